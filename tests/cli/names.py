# SPDX-License-Identifier: MIT
"""Names of results and new columns: NAME=COLUMN and NAME=EXPR in COLS, and --rename of results, several at once."""
import harness
from harness import answers, refuses, run
from scan_ways import holds, prints, ways

TABLE = b"k,v,b\na,1.005,2\nb,2.5,3\na,3,4\n"
MEANINGS = (
    # a name before a column, or an expression
    (["--sum=total=v", "--format=csv"], "total|6.505"), (["--sum=total=v,b", "--mean=avg = v*b"], "total,sum(b),avg|6.505,9,7.17"),
    (["--p95=slow=v", "--count-distinct=n=k", "--first=f=k"], "slow,n,f|2.950,2,a"), (["--trimmed-mean=t=v:0.1", "--format=csv"], "t|2.1683333333333333"),
    (["--by=k", "--sum=total=v", "--mean=`avg v`=v"], "k,total,avg v|a,4.005,2.0025|b,2.5,2.5"),
    (["--by=k", "--sum=total=v", "--sort=-total", "--having=total > 1", "--agg=r=total / count()"], "k,total,r|a,4.005,2.0025|b,2.5,2.5"),
    (["--mean=avg ms=v", "--sum=all of it = v*b", "--format=csv"], "avg ms,all of it|2.1683333333333333,21.510"),
    (["--by=k", "--sum=the total=v", "--sort=-the total"], "k,the total|a,4.005|b,2.5"),
    (["--by=k", "--share=part=b", "--digits=2"], "k,part|a,0.67|b,0.33"), (["--by=k", "--pivot=b", "--sum=total=v"], "k,2,3,4|a,1.005,,3|b,,2.5,"),
    (["--cumsum=running=v", "--only"], "running|1.005|3.505|6.505"), (["--rolling-sum=r=v:2", "--rank=n=v", "--only"], "r,n|1.005,1|3.505,2|5.500,3"),
    (["--sum=total=:2", "--format=csv"], "total|6.505"), (["--corr=x=v:b", "--format=csv"], "corr(x:b)|0.96095397048510067"),
    # another heading
    (["--sum=v", "--rename=sum(v)=total", "--format=csv"], "total|6.505"), (["--by=k", "--sum=v", "--rename=sum(v)=total"], "k,total|a,4.005|b,2.5"),
    (["--by=k", "--sum=v", "--max=b", "--rename=sum(v)=total,k=key,max(b)=most"], "key,total,most|a,4.005,4|b,2.5,3"),
    (["--by=k", "--sum=v", "--rename=sum(v)=total", "--sort=-sum"], "k,total|a,4.005|b,2.5"), (["--by=k", "--rename=count=n"], "k,n|a,2|b,1"),
    (["--by=k", "--sum=t=v", "--rename=t=total"], "k,total|a,4.005|b,2.5"), (["--max=least(v,b)", "--rename=max(least(v,b))=m", "--min=v"], "m,min(v)|3.000,1.005"),
    (["--cumsum=v", "--rename=running_sum(v)=r,v=w", "--rename=k=key"], "key,w,b,r|a,1.005,2,1.005|b,2.5,3,3.505|a,3,4,6.505"),
    (["--sum=least(v,b)=3", "--rename=sum(least(v,b)=3)=n", "--format=csv"], "n|1"),
    (["--row-number", "--only", "--rename=row_number=n"], "n|1|2|3"), (["--cumsum=r=v", "--only", "--rename=r=total"], "total|1.005|3.505|6.505"),
    # columns of records, several at once
    (["--rename=k=x,v=y"], "x,y,b|a,1.005,2|b,2.5,3|a,3,4"), (["--rename=k=x,y", "--select=k"], '"x,y"|a|b|a'),
    (["--rename=\"k\"=x,b=c", "--select=k,b"], "x,c|a,2|b,3|a,4"),
)


def check():
    for number, (args, want) in enumerate(MEANINGS):
        holds(" ".join(args), args, TABLE, prints((want.replace("|", "\n") + "\n").encode()), ways(number))
    answers("JSON", ["--by=k", "--sum=total=v", "--rename=k=key", "--format=json"], TABLE, '[{"key": "a", "total": 4.005},\n {"key": "b", "total": 2.5}]\n')
    answers("a table", ["--by=k", "--sum=total=v", "--transpose"], TABLE, "k,a,b\ntotal,4.005,2.5\n")
    answers("what is printed, renamed", ["--rename=sum(v)=total"], run(["--by=k", "--sum=v"], TABLE).out, "k,total\na,4.005\nb,2.5\n")
    part = run(["--by=k", "--sum=total=v", "--max=b", "--partial"], TABLE).out
    answers("parts", ["--merge", "--rename=max(b)=most,k=key"], part, "key,total,most\na,4.005,4\nb,2.5,3\n")
    answers("a file's own name with a sign", ["--sum=k=v", "--format=csv"], b"k=v,v\n1,2\n", "sum(k=v)\n1\n")
    for args, *says in ((["--sum=v", "--rename=sum(w)=r"], "'sum(w)' is none of the columns that are printed: sum(v)"),
                        (["--by=k", "--sum=v", "--rename=b=r"], "'b' is none of the columns that are printed: k, sum(v)"),
                        (["--cumsum=v", "--rename=running_sum(b)=r"], "none of the columns that are printed: running_sum(v)"),
                        (["--sum=v", "--partial", "--rename=sum(v)=r"], "give it to --merge"), (["--rename=nosuch=r"], "unknown column 'nosuch'"),
                        (["--sum=v=b"], "there is a column 'v' already"), (["--sum=v", "--rename=sum(v)"], "is not OLD=NEW")):
        refuses(" ".join(args), args, TABLE, 2, *says)


if __name__ == "__main__":
    check()
    harness.done()
