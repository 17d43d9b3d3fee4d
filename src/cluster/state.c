/* SPDX-License-Identifier: MIT
 *
 * state.c - saving a run's state: a part in a file, which the next run reads before its own records. See part.h.
 */
#include "cluster/part.h"
#include "io/out_file.h"

const struct out_file_kind state_kind = {PART_HEAD_BEGIN, STATUS_NOT_STATE, false};

enum status state_save(const struct options *o, const struct query *q, struct total *total,
		       const struct part_scope *scope, struct fault *fault)
{
	struct out_file file;

	TRY(out_file_begin(&file, o->save_state, &state_kind, fault));
	return out_file_end(&file, part_write(o, q, total, scope, part_sink_stream(file.stream), fault), fault);
}
