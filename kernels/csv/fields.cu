/* SPDX-License-Identifier: MIT
 *
 * fields.cu - one thread parses one record. See fields.cuh.
 *
 * It steps the automaton of dfa.h byte by byte from the record's beginning, which is a field's
 * start, and reads no byte beyond the last selected field. Then it computes the columns of --let, and evaluates the
 * conditions. Plans without these, and those without keys, have kernels of their own.
 */
#include "kernels/csv/program_lane.cuh"

#define FIELDS_NTHREADS 128

static __device__ void field_put(const struct field_table &table, uint32_t c, uint32_t r,
				 unsigned code, int64_t significand)
{
	table.code[field_at(table, c, r)] = (uint8_t)code;
	table.significand[field_at(table, c, r)] = significand;
}

/* Parses one field into the table. The span of an exception replaces the significand until the
 * record is known to count. */
static __device__ void field_parse(const struct fields_plan &plan, const struct field_table &table,
				  const struct row &row, uint32_t c, struct span field)
{
	int64_t significand = 0;
	unsigned code = field_read(plan, plan.parses[c], plan.keeps_keys[c], row.text, field,
				   &significand);

	if (code == FIELD_INVALID)
		significand = (int64_t)field.begin;
	if (code == FIELD_EXCEPTION)
		significand = (int64_t)((uint64_t)field.end << 32 | field.begin);
	field_put(table, c, row.number, code, significand);
}

/* Notes where the value of field c lies, for each key that it is. That of an exception has quotes within it. */
static __device__ void field_note_keys(const struct fields_plan &plan, const struct field_table &table,
				       const struct row &row, uint32_t c, struct span field)
{
	uint32_t first = plan.ncolumns + plan.programs.npredicates;

	for (uint32_t k = 0; k < plan.nkeys; k++) {
		if (plan.key[k] != c)
			continue;
		unsigned code = field_unquote(row.text, plan.quote, &field) ? 0 : FIELD_EXCEPTION;
		field_put(table, first + k, row.number, code,
			  (int64_t)((uint64_t)field.end << 32 | field.begin));
	}
}

/* Whether a key of the record has quotes within it, or a value is an exception or no number: the CPU then finds
 * its group. */
static __device__ bool record_is_odd(const struct fields_plan &plan, const struct field_table &table, uint32_t r)
{
	bool odd = false;

	for (uint32_t c = 0; c < table.ncolumns; c++) {
		unsigned code = table.code[field_at(table, c, r)];
		odd = odd || code == FIELD_EXCEPTION || (code == FIELD_INVALID && c < plan.ncolumns);
	}
	return odd;
}

/* Parses field c if it is folded, and notes its span if a condition looks at it, or if it is a key. */
template <bool FILTERS, bool KEYS>
static __device__ void field_note(const struct fields_plan &plan, const struct field_table &table,
				  const struct row &row, uint32_t c, struct span field,
				  struct filter_spans *spans)
{
	uint8_t place = FILTERS ? plan.programs.span_of[c] : FIELDS_NO_SPAN;

	if (FILTERS && place != FIELDS_NO_SPAN)
		spans->at[place] = field;
	if (KEYS)
		field_note_keys(plan, table, row, c, field);
	if (plan.programs.folds[c])
		field_parse(plan, table, row, c, field);
	else
		field_put(table, c, row.number, FIELD_MISSING, 0);
}

/* Parses the record's selected fields. Those that are not there are empty ones at its end. */
template <bool FILTERS, bool KEYS>
static __device__ void fields_parse(const struct fields_plan &plan,
				       const struct field_table &table, const struct row &row,
				       struct filter_spans *spans)
{
	struct span field = {row.bytes.begin, 0};
	uint32_t c = 0, nread = plan.ncolumns - plan.programs.nlets;

	for (uint32_t position = 0; c < nread; position++) {
		field.end = field_find_end(row, field.begin);
		bool is_last = field.end == row.bytes.end;
		while (c < nread && (is_last || plan.field[c] == position)) {
			if (is_last && plan.field[c] > position)
				field.begin = field.end;
			if (FILTERS || KEYS)
				field_note<FILTERS, KEYS>(plan, table, row, c, field, spans);
			else
				field_parse(plan, table, row, c, field);
			c++;
		}
		field.begin = field.end + 1;
	}
}

/* Leaves the record out of every column. */
static __device__ void record_omit(const struct field_table &table, uint32_t r)
{
	for (uint32_t c = 0; c < table.ncolumns; c++)
		field_put(table, c, r, FIELD_ABSENT, 0);
}

/* Counts the record's exceptions, and lists those for which there is room. */
static __device__ void record_list_exceptions(const struct field_table &table,
					      uint32_t ncolumns, uint32_t r,
					      const struct exception_list &exceptions,
					      struct chunk_summary *summary)
{
	for (uint32_t c = 0; c < ncolumns; c++) {
		size_t at = field_at(table, c, r);
		if (table.code[at] != FIELD_EXCEPTION)
			continue;
		uint64_t span = (uint64_t)table.significand[at];
		exception_add(exceptions, summary, {(uint32_t)span, (uint32_t)(span >> 32), c});
	}
}

/* ---- conditions ---- */

/* Computes the columns of --let of a record. One that the CPU must compute is FIELD_EXCEPTION. Returns whether
 * there is none. */
static __device__ bool lets_compute(const struct fields_plan &plan, const struct field_table &table,
				    const struct row &row, struct filter_spans *spans)
{
	bool all = true;

	for (uint32_t k = 0; k < plan.programs.nlets; k++) {
		uint32_t c = plan.ncolumns - plan.programs.nlets + k;
		uint8_t place = plan.programs.span_of[c];
		struct lane_value x;
		unsigned ignored;
		if (place != FIELDS_NO_SPAN)
			spans->at[place] = {c, LET_SPAN};
		if (program_run({plan, table, row, *spans}, plan.programs.npredicates + k, &x, &ignored)) {
			bool missing = x.kind == LANE_MISSING;
			field_put(table, c, row.number, missing ? (unsigned)FIELD_MISSING : (unsigned)x.number.scale,
				  missing ? 0 : x.number.significand);
		} else {
			field_put(table, c, row.number, FIELD_EXCEPTION, 0);
			all = false;
		}
	}
	return all;
}

/* Evaluates the predicates of a record, and fills their columns, as src/fold does. Returns whether
 * it is kept; *decided: false if the CPU must evaluate one. */
static __device__ bool record_filter(const struct fields_plan &plan,
				    const struct field_table &table, const struct row &row,
				    const struct filter_spans &spans, bool *decided)
{
	for (uint32_t p = 0; p < plan.programs.npredicates; p++) {
		struct lane_value ignored;
		unsigned truth = LANE_MAYBE;

		*decided = program_run({plan, table, row, spans}, p, &ignored, &truth) && truth != LANE_MAYBE;
		if (!*decided || (p == plan.programs.where && truth != LANE_TRUE))
			return false;
		field_put(table, plan.ncolumns + p, row.number,
			  truth == LANE_TRUE ? 0 : FIELD_MISSING, 0);
	}
	return true;
}

/* ---- the kernel ---- */

/* Parses, computes and filters one record. next: where the next one begins. */
template <bool FILTERS, bool COMPUTES, bool KEYS>
static __device__ void record_parse(const struct fields_plan &plan,
				   const struct field_table &table, const struct row &row, uint32_t next,
				   const struct exception_list &exceptions,
				   struct chunk_summary *summary)
{
	struct filter_spans spans;
	bool kept = true, decided = true, computed = true;

	fields_parse<FILTERS, KEYS>(plan, table, row, &spans);
	if (COMPUTES)
		computed = lets_compute(plan, table, row, &spans);
	if (FILTERS)
		kept = record_filter(plan, table, row, spans, &decided);
	if (!decided || (!computed && (kept || plan.programs.has_choices)))
		atomicAdd(&summary->nundecided, 1);
	kept &= computed;
	if (KEYS && kept && record_is_odd(plan, table, row.number)) {
		exception_add(exceptions, summary, {(uint32_t)row.bytes.begin, next, EXCEPTION_RECORD});
		atomicAdd(&summary->nomitted, 1);
		kept = false;
	}
	if (kept && !KEYS)
		record_list_exceptions(table, plan.ncolumns, row.number, exceptions, summary);
	if (!kept)
		record_omit(table, row.number);
}

template <bool FILTERS, bool COMPUTES, bool KEYS>
__global__ static void __launch_bounds__(FIELDS_NTHREADS)
fields(struct text_view text, struct record_table records, struct fields_plan plan,
       struct field_table table, struct exception_list exceptions,
       struct chunk_summary *summary)
{
	size_t thread = (size_t)blockIdx.x * FIELDS_NTHREADS + threadIdx.x;
	uint32_t r = (uint32_t)thread;

	if (thread == 0 && summary->nends > 0) {
		summary->first_end = records.ends[0];
		summary->last_end = records.ends[summary->nends - 1];
	}
	if (thread >= *records.nrecords)
		return;
	struct span bytes = {record_begin(records, r), record_text_end(records, text.data, r)};
	struct row row = {text.data, bytes, r, text.delimiter, text.quote};
	uint32_t nfields = record_nfields(records, r);
	enum record_kind kind = record_kind_of(text, plan.ragged, bytes.begin, bytes.end, nfields);
	if (kind == RECORD_RAGGED)
		record_count_ragged(plan.ragged, (uint32_t)bytes.begin, nfields, summary);
	if (plan.sought.nbytes && kind == RECORD_REGULAR &&
	    header_may_be_repeated(&plan.sought, text.data + bytes.begin, bytes.end - bytes.begin))
		summary_leave(summary);
	if (record_is_taken(plan.ragged, kind, nfields)) {
		if (nfields != plan.ragged.nfields)
			grid_atomic<uint32_t>(summary->has_uneven).store(1, cuda::memory_order_relaxed);
		record_parse<FILTERS, COMPUTES, KEYS>(plan, table, row, record_end(records, r), exceptions, summary);
	} else {
		record_omit(table, r);
		atomicAdd(&summary->nomitted, 1);
	}
}

typedef void fields_kernel(struct text_view, struct record_table, struct fields_plan, struct field_table,
			   struct exception_list, struct chunk_summary *);

/* The kernel for what the plan asks. Tests in computed columns need the spans that filters note. */
static fields_kernel *kernel_for(const struct fields_plan &plan)
{
	bool keys = plan.nkeys > 0;

	if (plan.programs.nlets > 0)
		return keys ? fields<true, true, true> : fields<true, true, false>;
	if (plan.programs.npredicates > 0)
		return keys ? fields<true, false, true> : fields<true, false, false>;
	return keys ? fields<false, false, true> : fields<false, false, false>;
}

cudaError_t fields_launch(struct text_view text, struct record_table records,
			  struct fields_plan plan, struct field_table table,
			  struct exception_list exceptions, struct chunk_summary *summary,
			  cudaStream_t stream)
{
	/* At least one block: it also sets first_end and last_end. */
	uint32_t nblocks = records.nrecords_at_most / FIELDS_NTHREADS + 1;
	fields_kernel *kernel = kernel_for(plan);

	kernel<<<nblocks, FIELDS_NTHREADS, 0, stream>>>(text, records, plan, table, exceptions, summary);
	return cudaGetLastError();
}
