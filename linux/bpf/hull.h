/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Layout of the maps, shared by the programs and their loader. Each struct has its counterpart in
 * linux/hull-linux/src/maps.rs; the kernel rejects a value of another size.
 *
 * Units: times in ns of CLOCK_MONOTONIC unless a name says otherwise; the phantom queue counts in
 * 2^-16 ps of drain time as hull-core's does (crates/hull-core/src/phantom_queue.rs), the pacer in
 * 2^-8 ns (crates/hull-core/src/departure_pacer.rs).
 */
#ifndef HULL_H
#define HULL_H

#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* Largest number of attachments in one network namespace. Each has a slot in every map, which its
 * programs know as a constant, so an access to an array costs a packet nothing. A packet that arrives
 * while settings are changed may see a mix of old and new numbers. */
#define SLOTS 256

struct phantom_settings {
	__u64 byte_units;      /* drain time of a byte, 2^-16 ps */
	__u64 threshold_units; /* threshold as drain time, 2^-16 ps */
	__u64 most_bytes;      /* a packet above this fills the counter */
	__u64 tick_ps;         /* 0: continuous drain */
	__u32 count_arriving;  /* 1: the packet is added before the comparison */
	__u32 reserved;
};

struct phantom_queue {
	struct bpf_spin_lock lock;
	__u32 reserved;
	__u64 byte_units; /* what the backlog was counted with */
	__u64 backlog_units;
	__u64 drained_to_ps;
	__u64 most_backlog_units; /* since the device was attached */
	__u64 packets;
	__u64 bytes;
	__u64 above_threshold;
	__u64 marked;         /* CE set here */
	__u64 already_marked; /* above the threshold, CE before */
	__u64 not_capable;    /* above the threshold, not ECN-capable: left alone */
};

struct association_settings {
	__u64 timeout_ns;  /* T_i */
	__u32 probability; /* p_a scaled by 2^32; 2^32 - 1 is always */
	__u32 reserved;
};

/* Flow, as identified in its data packets. IPv4 addresses take the first word. */
struct flow {
	__u32 source[4];
	__u32 destination[4];
	__u16 source_port; /* network byte order, as the addresses */
	__u16 destination_port;
};

struct association {
	__u64 expires_ns;
};

struct association_counts {
	__u64 echoes;       /* ACKs with ECN-Echo */
	__u64 associations; /* associations made or renewed */
};

struct pacer_settings {
	__u64 max_rate; /* rates in 2^-6 bit/s */
	__u64 min_rate;
	__u64 initial_rate;
	__u64 gain; /* eta 8e9 / T_r, 2^-22 bit/s per byte */
	__u64 most_measured_bytes;
	__u64 update_interval_ns; /* T_r */
	__u64 began_ns;           /* time 0 of the pacer's clock */
	__u32 kept;               /* 1 - eta, scaled by 2^16 */
	__u32 beta;               /* per second, scaled by 2^8 */
	__u32 bucket_bytes;
	__u32 fifo_bytes;
	__u32 drop_when_full;
	__u32 reserved;
};

struct pacer {
	struct bpf_spin_lock lock;
	__u32 begun; /* 0: the first packet initializes the rest */
	__u64 rate;
	__u64 byte_cost;
	__u64 empty_at;
	__u64 waiting_cost;
	__u64 measured_bytes;
	__u64 next_update_ns;
	__u64 packets;
	__u64 bytes;
	__u64 associated; /* packets of associated flows */
	__u64 paced;      /* of these, those with a departure after the present */
	__u64 full;       /* dropped because the FIFO was full */
	__u64 longest_wait_ns;
};

#endif
