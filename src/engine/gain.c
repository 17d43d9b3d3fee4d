/* SPDX-License-Identifier: MIT
 *
 * gain.c - see gain.h.
 */
#include "engine/gain.h"

/* The speed at which the run would go on with the device. */
static double speed_with(const struct run_pace *run, const struct device_offer *device)
{
	double speed = device->speed + run->kept * run->speed;
	double most = run->speed / run->writing; /* infinite where nothing is written */

	return speed < most ? speed : most;
}

double gain_s(const struct run_pace *run, const struct device_offer *device)
{
	double left = run->nbytes_left - device->wake_s * run->speed; /* when it is awake */

	if (left <= 0)
		return -device->end_s;
	return left / run->speed - left / speed_with(run, device) - device->end_s;
}

bool pace_look(struct pace_meter *meter, double now_s, double nbytes, double write_s)
{
	double seconds = now_s - meter->first_s;

	if (seconds < PACE_LOOK_S / 2 || nbytes <= meter->first_nbytes)
		return false;
	if (meter->first_s == 0) {
		meter->first_s = now_s;
		meter->first_nbytes = nbytes;
		meter->first_write_s = write_s;
		return false;
	}
	meter->speed = (nbytes - meter->first_nbytes) / seconds;
	meter->writing = (write_s - meter->first_write_s) / seconds;
	return true;
}

bool pace_is_sure(struct pace_meter *meter, bool pays)
{
	meter->npaying = pays ? meter->npaying + 1 : 0;
	return meter->npaying >= 2;
}
