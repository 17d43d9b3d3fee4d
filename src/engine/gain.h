/* SPDX-License-Identifier: MIT
 *
 * gain.h - what it would gain to wake a device in the midst of a run, by the run's own speed.
 *
 * Nothing is reckoned about the CPUs: their speed at this plan and this input is measured. Only the
 * device's is known beforehand (kernels/worker/feeding.c).
 */
#ifndef GPUSTAT_GAIN_H
#define GPUSTAT_GAIN_H

#include <stdbool.h>
#include <stdint.h>

/* A device that may join a run. */
struct device_offer {
	double speed;  /* bytes of input a second, once it is awake; 0: it joins without being asked */
	double wake_s; /* until then */
	double end_s;  /* that the process takes longer to end */
};

/* A run as it stands. */
struct run_pace {
	double speed;       /* bytes a second, measured */
	double nbytes_left; /* of the input */
	double kept;        /* the share of the speed that is left once the device's threads have replaced
			     * others: 0 to 1 */
	double writing;     /* the share of the time in which output is being written: no device makes that
			     * any faster */
};

/* Seconds by which the run ends sooner if the device joins it now; negative: later. */
double gain_s(const struct run_pace *run, const struct device_offer *device);

/* Counts bytes and seconds of output since the first look. All zero: not begun. */
struct pace_meter {
	double first_s, first_nbytes, first_write_s;
	double speed, writing; /* since then */
	unsigned npaying;      /* looks in a row at which the device would have paid */
};

/* Looks at the run's counters: seconds since its beginning, bytes begun, and seconds in which output was
 * written. Returns false if this tells nothing: at the first look, since threads that start are slow, and
 * if too little happened since then. */
bool pace_look(struct pace_meter *meter, double now_s, double nbytes, double write_s);

/* Whether a device that pays at this look is to be called: it must have paid at the one before, too. A
 * speed of 20 ms may be that of a moment. */
bool pace_is_sure(struct pace_meter *meter, bool pays);

/* Seconds after which to look again. */
#define PACE_LOOK_S 0.02

#endif
