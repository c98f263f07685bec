// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* The sending host: selection of the paced flows, and departure times of their packets (paper 4.2).
 *
 * At ingress an ACK with ECN-Echo associates its flow with probability p_a, for T_i
 * (hull-core's flow_association.rs; the table is the kernel's LRU map, so a full one evicts
 * approximately the oldest flow). At egress a packet of an associated flow gets a departure time from the
 * host's one token bucket (hull-core's departure_pacer.rs, the same arithmetic line by line), which
 * sch_fq obeys; every other packet passes, and counts for the measured rate. Segments that
 * the NIC makes after that leave back to back: see docs/algorithms/pacer.md.
 */
#include "packet.h"

char LICENSE[] SEC("license") = "GPL";

/* Tests set the time as the packet's tstamp, its bytes as cb[0] and random bits as cb[1]. The departure
 * is returned as the tstamp, and cb[2] tells whether the packet's flow is (or was just) associated. */
const volatile bool injected = false;
const volatile __u32 slot = 0;

#define MOST_UPDATES 64
#define MAX_FIFO_BYTES (1U << 26)
#define MAX_PACKET_BYTES (1U << 20)
#define RATE_BITS 6
#define TIME_BITS 8
#define COST_BITS 20
#define LONGEST (1ULL << (43 + TIME_BITS))
#define ORIGIN (1ULL << 46)
#define ONE_BYTE_AT_1_BPS (8000000000ULL << COST_BITS << RATE_BITS)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct association_settings);
} association_settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct flow);
	__type(value, struct association);
} associations SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct association_counts);
} association_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct pacer_settings);
} pacer_settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct pacer);
} pacers SEC(".maps");

/* Flow whose data these ACKs acknowledge. */
static __always_inline void reverse(const struct flow *ack, struct flow *data)
{
	__builtin_memcpy(data->source, ack->destination, sizeof(data->source));
	__builtin_memcpy(data->destination, ack->source, sizeof(data->destination));
	data->source_port = ack->destination_port;
	data->destination_port = ack->source_port;
}

SEC("tc")
int association_ingress(struct __sk_buff *skb)
{
	__u32 key = slot;
	struct association_settings *settings = bpf_map_lookup_elem(&association_settings, &key);
	struct association_counts *counts = bpf_map_lookup_elem(&association_counts, &key);
	struct packet packet;

	if (!settings || !counts || !settings->timeout_ns)
		return TC_ACT_UNSPEC;
	read_packet(skb, &packet);
	/* A SYN with ECE and CWR requests ECN, and a SYN-ACK with ECE accepts it: neither echoes a mark. */
	if (!packet.tcp || (packet.flags & (TCP_ECE | TCP_ACK | TCP_SYN)) != (TCP_ECE | TCP_ACK))
		return TC_ACT_UNSPEC;
	__sync_fetch_and_add(&counts->echoes, 1);

	__u32 random = injected ? skb->cb[1] : bpf_get_prandom_u32();
	if (random >= settings->probability && settings->probability != ~0U)
		return TC_ACT_UNSPEC;
	struct association association = {
		.expires_ns = (injected ? skb->tstamp : bpf_ktime_get_ns()) + settings->timeout_ns,
	};
	struct flow data;

	reverse(&packet.flow, &data);
	if (!bpf_map_update_elem(&associations, &data, &association, BPF_ANY)) {
		__sync_fetch_and_add(&counts->associations, 1);
		if (injected)
			skb->cb[2] = 1;
	}
	return TC_ACT_UNSPEC;
}

static __always_inline bool is_associated(const struct flow *flow, __u64 now_ns)
{
	struct association *association = bpf_map_lookup_elem(&associations, flow);

	return association && now_ns < association->expires_ns;
}

/* Without branches, each of which the verifier would follow in each update. All values are below 2^63. */
static __always_inline __s64 below(__u64 a, __u64 b)
{
	__s64 difference = a - b;

	asm volatile("" : "+r"(difference));
	return difference & (difference >> 63);
}

static __always_inline __u64 least(__u64 a, __u64 b)
{
	return b + below(a, b);
}

static __always_inline __u64 most(__u64 a, __u64 b)
{
	return a - below(a, b);
}

/* `from - what`, at least zero. */
static __always_inline __u64 less(__u64 from, __u64 what)
{
	return -below(what, from);
}

static __always_inline __u64 instant(__u64 ns)
{
	return (ns << TIME_BITS) + ORIGIN;
}

static __always_inline __u64 byte_cost(__u64 rate)
{
	return (ONE_BYTE_AT_1_BPS + rate / 2) / rate;
}

static __always_inline __u64 cost(__u64 bytes, __u64 byte_cost)
{
	return (bytes * byte_cost) >> (COST_BITS - TIME_BITS);
}

static __always_inline __u64 bytes_in(__u64 time, __u64 byte_cost)
{
	return (least(time, LONGEST) << (COST_BITS - TIME_BITS)) / byte_cost;
}

static __always_inline __u64 waiting_bytes(const struct pacer *pacer, __u64 now)
{
	return bytes_in(less(pacer->empty_at, now), pacer->waiting_cost);
}

/* Equation 4 with `waiting` as Q. */
static __always_inline __u64 next_rate(const struct pacer *pacer, const struct pacer_settings *settings,
				       __u64 waiting)
{
	__u64 filtered =
		(pacer->rate * settings->kept + pacer->measured_bytes * settings->gain + (1 << 15)) >> 16;

	__u64 backlog = ((__u64)settings->beta * least(waiting, MAX_FIFO_BYTES) * 8) >> 2;

	return most(least(filtered + backlog, settings->max_rate), settings->min_rate);
}

/* Sets a new rate; the tokens in the bucket keep their bytes. */
static __always_inline void set_rate(struct pacer *pacer, const struct pacer_settings *settings, __u64 rate,
				     __u64 at_ns)
{
	if (rate == pacer->rate)
		return;
	__u64 at = instant(at_ns);
	__u64 new_cost = byte_cost(rate);

	__u64 full = cost(settings->bucket_bytes, pacer->byte_cost);
	__u64 filled = least(less(at, pacer->empty_at), full);
	__u64 sixteenths = (filled << 16) / pacer->byte_cost;

	pacer->empty_at = most(pacer->empty_at, at) - ((sixteenths * new_cost) >> 16);
	pacer->rate = rate;
	pacer->byte_cost = new_cost;
}

/* `base^n`, scaled by 2^16. */
static __always_inline __u64 power(__u64 base, __u64 n)
{
	__u64 result = 1 << 16;

	for (int bit = 0; bit < 64 && n; bit++) {
		if (n & 1)
			result = (result * base) >> 16;
		base = (base * base) >> 16;
		n >>= 1;
	}
	return result;
}

static __always_inline void advance(struct pacer *pacer, const struct pacer_settings *settings, __u64 now_ns)
{
	if (now_ns < pacer->next_update_ns)
		return;
	__u64 due = (now_ns - pacer->next_update_ns) / settings->update_interval_ns + 1;

	for (int i = 0; i < MOST_UPDATES && due; i++, due--) {
		__u64 at_ns = pacer->next_update_ns;
		__u64 rate = next_rate(pacer, settings, waiting_bytes(pacer, instant(at_ns)));

		pacer->measured_bytes = 0;
		set_rate(pacer, settings, rate, at_ns);
		pacer->next_update_ns += settings->update_interval_ns;
	}
	if (due) {
		__u64 rate = (pacer->rate * power(settings->kept, due)) >> 16;

		set_rate(pacer, settings, most(rate, settings->min_rate), pacer->next_update_ns);
		pacer->next_update_ns += due * settings->update_interval_ns;
	}
}

/* Time at which `bytes` of tokens have been generated, the first of them after `from`. */
static __always_inline __u64 made_after(const struct pacer *pacer, __u64 from, __u64 bytes, __u64 next_cost)
{
	__u64 at_rate = from + cost(bytes, pacer->byte_cost);
	__u64 update_at = instant(pacer->next_update_ns);

	if (at_rate <= update_at || next_cost >= pacer->byte_cost)
		return at_rate;
	if (from >= update_at)
		return from + cost(bytes, next_cost);
	__u64 sixteenths = ((update_at - from) << 16) / pacer->byte_cost;

	return update_at + ((less(bytes * 16, sixteenths) * next_cost) >> 16);
}

#define NOW 0
#define DROPPED (~0ULL)

/* Departure of a packet on the pacer's clock, NOW or DROPPED. The caller holds the lock. */
static __always_inline __u64 depart(struct pacer *pacer, const struct pacer_settings *settings, __u64 now_ns,
				    __u64 bytes, bool paced)
{
	if (!pacer->begun) {
		pacer->begun = 1;
		pacer->rate = settings->initial_rate;
		pacer->byte_cost = pacer->waiting_cost = byte_cost(settings->initial_rate);
		pacer->next_update_ns = settings->update_interval_ns;
	}
	bytes = least(bytes, MAX_PACKET_BYTES);
	advance(pacer, settings, now_ns);
	pacer->packets++;
	pacer->bytes += bytes;
	pacer->measured_bytes = least(pacer->measured_bytes + bytes, settings->most_measured_bytes);
	if (!paced)
		return NOW;
	pacer->associated++;

	__u64 now = instant(now_ns);
	__u64 full_since = now - cost(settings->bucket_bytes, pacer->byte_cost);
	__u64 empty_at = most(pacer->empty_at, full_since);
	__u64 at_once = empty_at + cost(bytes, pacer->byte_cost);
	if (at_once <= now) {
		pacer->empty_at = at_once;
		return NOW;
	}
	__u64 waiting = waiting_bytes(pacer, now);
	__u64 rate = next_rate(pacer, settings, waiting);
	__u64 next_cost = byte_cost(most(rate, pacer->rate));
	__u64 needed = least(bytes, settings->bucket_bytes);
	__u64 departs_at = made_after(pacer, empty_at, needed, next_cost);

	if (departs_at > now && waiting + bytes > settings->fifo_bytes) {
		pacer->full++;
		return settings->drop_when_full ? DROPPED : NOW;
	}
	pacer->empty_at = made_after(pacer, empty_at, bytes, next_cost);
	if (pacer->empty_at > now) {
		__u64 tokens = bytes_in(less(now, empty_at), pacer->byte_cost);
		__u64 wait = least(pacer->empty_at - now, LONGEST);

		waiting = most(less(waiting + bytes, tokens), 1);
		pacer->waiting_cost = most((wait << (COST_BITS - TIME_BITS)) / waiting, 1);
	}
	if (departs_at <= now)
		return NOW;
	__u64 departure_ns = (departs_at - ORIGIN + (1 << TIME_BITS) - 1) >> TIME_BITS;

	pacer->paced++;
	pacer->longest_wait_ns = most(pacer->longest_wait_ns, departure_ns - now_ns);
	return departure_ns;
}

SEC("tc")
int pacer_egress(struct __sk_buff *skb)
{
	__u32 key = slot;
	struct pacer_settings *settings = bpf_map_lookup_elem(&pacer_settings, &key);
	struct pacer *pacer = bpf_map_lookup_elem(&pacers, &key);
	struct packet packet;

	if (!settings || !pacer || !settings->update_interval_ns)
		return TC_ACT_UNSPEC;
	struct pacer_settings now = *settings;
	__u64 clock_ns = injected ? skb->tstamp : bpf_ktime_get_ns();
	__u64 now_ns = clock_ns - now.began_ns;

	read_packet(skb, &packet);
	bool paced = packet.tcp && is_associated(&packet.flow, clock_ns);
	__u32 bytes = counted_bytes(skb, injected);

	bpf_spin_lock(&pacer->lock);
	/* A reading of another processor's clock may be a little later. */
	__u64 departure_ns = depart(pacer, &now, now_ns, bytes, paced);
	bpf_spin_unlock(&pacer->lock);

	if (injected)
		skb->cb[2] = paced;
	if (departure_ns == DROPPED)
		return TC_ACT_SHOT;
	if (departure_ns != NOW) {
		departure_ns += now.began_ns;
		/* TCP may already have requested a later departure. */
		if (departure_ns > skb->tstamp)
			skb->tstamp = departure_ns;
	}
	return TC_ACT_UNSPEC;
}
