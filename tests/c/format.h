/* Format version 1 as C structures: an independent statement of docs/format.md, checked byte by
 * byte when compiled. Needs C11. */
#ifndef FORMAT_H
#define FORMAT_H
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint64_t offset, length, stride;
} region_t;

enum { ENABLE, DEFINITIONS, THREADS, PROCESSES, LANES, CHUNKS, ENTRIES, STRINGS, IMPORTANT, REGIONS };

typedef struct {
  uint64_t serial, ticks, monotonic, realtime;
} anchor_t;

typedef struct {
  uint64_t serial, from, ticks, unix_, nanos, realtime, seen, offset, ticket, check;
} stretch_t;

typedef struct {
  /* Written once. The checksum covers it. */
  unsigned char magic[8];
  uint16_t version_major, version_minor;
  uint32_t header_size;
  uint32_t flags;
  uint32_t checksum;
  uint64_t total_size;
  uint64_t entries;
  uint32_t chunk_entries, chunks;
  uint32_t cpu_lanes, thread_lanes;
  uint32_t definitions, threads;
  uint32_t processes, clock;
  region_t regions[REGIONS];
  uint64_t created_unix, created_ticks;
  uint32_t creator_pid, bound;
  uint64_t creator_start;
  unsigned char boot_id[16];
  uint64_t tick_rate;
  uint64_t interned;
  uint64_t room;
  region_t stretches;
  char creator_exe[256];
  unsigned char unused_280[0x3e0 - 0x280];
  char clock_source[16];
  uint32_t clock_reason, unused_3f4[3];
  uint8_t cpu_nodes[1024];
  /* Changes while the timeline lives. */
  uint64_t next_ticket;
  unsigned char unused_808[0x840 - 0x808];
  uint32_t level, boost, sampler_pid, unused_84c;
  uint64_t sampler_start, sampler_namespace, sampler_time_namespace;
  unsigned char unused_868[0x880 - 0x868];
  uint32_t defined, unused_884;
  uint64_t strings_used, thread_serial, process_serial, important_taken, renames;
  uint64_t interned_taken, unused_8b8;
  uint64_t dropped_interrupted, dropped_no_lane, dropped_no_chunk, dropped_bad_event, dropped_undefined;
  uint64_t dropped_important;
  uint64_t not_interned, dropped_refused;
  uint64_t anchors_taken, dropped_closed, dropped_not_joined;
  uint64_t newest_stretch, stretch_begun, stretch_seen;
  unsigned char unused_930[0x940 - 0x930];
  anchor_t anchors[16];
  uint64_t rules_serial, rules_applied;
  uint64_t channels_on, channels_switched;
  unsigned char unused_b60[0xb80 - 0xb60];
  uint32_t channels[64];
  char rules_even[447];
  uint8_t level_even;
  char rules_odd[447];
  uint8_t level_odd;
} header_t;

typedef struct {
  uint64_t hash;
  uint32_t category, message, file, line;
  uint16_t unused_24;
  uint8_t priority, kind, arguments, unused_29[5], flags, rule;
  unsigned char unused_36[4];
  uint64_t channels;
  unsigned char unused[64 - 48];
} definition_t;

typedef struct {
  uint32_t identity, tid, pid, live;
  uint64_t start, end;
  char process_name[16];
  uint32_t generation, renames;
  char name[40], group[32];
} thread_t;

typedef struct {
  uint32_t identity, pid;
  uint64_t start, pid_namespace, joined;
  char name[16];
  uint64_t left, time_namespace;
  char executable[256];
  uint64_t size, modified, inode;
  unsigned char sha1[20], unused[20];
} process_t;

typedef struct {
  uint64_t cursor, owner, saved, unused[5];
} lane_t;

typedef struct {
  uint64_t state, before, lane, opened, unused[4];
} chunk_t;

typedef struct {
  uint64_t ticks;
  uint32_t event;
  uint16_t core;
  uint8_t slots, flags;
  uint32_t thread, tid;
  int64_t args[5];
} entry_t;

#define AT(type, member, offset) _Static_assert(offsetof(type, member) == (offset), #type "." #member)
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)

SIZE(header_t, 4096);
AT(header_t, magic, 0x000);
AT(header_t, version_major, 0x008);
AT(header_t, version_minor, 0x00a);
AT(header_t, header_size, 0x00c);
AT(header_t, flags, 0x010);
AT(header_t, checksum, 0x014);
AT(header_t, total_size, 0x018);
AT(header_t, entries, 0x020);
AT(header_t, chunk_entries, 0x028);
AT(header_t, chunks, 0x02c);
AT(header_t, cpu_lanes, 0x030);
AT(header_t, thread_lanes, 0x034);
AT(header_t, definitions, 0x038);
AT(header_t, threads, 0x03c);
AT(header_t, processes, 0x040);
AT(header_t, clock, 0x044);
AT(header_t, regions, 0x048);
SIZE(region_t, 24);
AT(region_t, offset, 0);
AT(region_t, length, 8);
AT(region_t, stride, 16);
AT(header_t, created_unix, 0x120);
AT(header_t, created_ticks, 0x128);
AT(header_t, creator_pid, 0x130);
AT(header_t, creator_start, 0x138);
AT(header_t, boot_id, 0x140);
AT(header_t, tick_rate, 0x150);
AT(header_t, interned, 0x158);
AT(header_t, creator_exe, 0x180);
AT(header_t, clock_source, 0x3e0);
AT(header_t, clock_reason, 0x3f0);
AT(header_t, cpu_nodes, 0x400);
AT(header_t, next_ticket, 0x800);
AT(header_t, level, 0x840);
AT(header_t, boost, 0x844);
AT(header_t, sampler_pid, 0x848);
AT(header_t, sampler_start, 0x850);
AT(header_t, sampler_namespace, 0x858);
AT(header_t, sampler_time_namespace, 0x860);
AT(header_t, defined, 0x880);
AT(header_t, strings_used, 0x888);
AT(header_t, thread_serial, 0x890);
AT(header_t, renames, 0x8a8);
AT(header_t, process_serial, 0x898);
AT(header_t, important_taken, 0x8a0);
AT(header_t, interned_taken, 0x8b0);
AT(header_t, dropped_interrupted, 0x8c0);
AT(header_t, dropped_no_lane, 0x8c8);
AT(header_t, dropped_no_chunk, 0x8d0);
AT(header_t, dropped_bad_event, 0x8d8);
AT(header_t, dropped_undefined, 0x8e0);
AT(header_t, dropped_important, 0x8e8);
AT(header_t, not_interned, 0x8f0);
AT(header_t, dropped_refused, 0x8f8);
AT(header_t, anchors_taken, 0x900);
AT(header_t, dropped_closed, 0x908);
AT(header_t, dropped_not_joined, 0x910);
AT(header_t, stretches, 0x168);
AT(header_t, newest_stretch, 0x918);
AT(header_t, stretch_begun, 0x920);
AT(header_t, stretch_seen, 0x928);
AT(header_t, anchors, 0x940);
AT(header_t, rules_serial, 0xb40);
AT(header_t, rules_applied, 0xb48);
AT(header_t, channels_on, 0xb50);
AT(header_t, channels_switched, 0xb58);
AT(header_t, channels, 0xb80);
AT(header_t, rules_even, 0xc80);
AT(header_t, level_even, 0xe3f);
AT(header_t, rules_odd, 0xe40);
AT(header_t, level_odd, 0xfff);
SIZE(anchor_t, 32);
AT(anchor_t, serial, 0);
AT(anchor_t, ticks, 8);
AT(anchor_t, monotonic, 16);
AT(anchor_t, realtime, 24);

SIZE(stretch_t, 80);
AT(stretch_t, from, 8);
AT(stretch_t, ticks, 16);
AT(stretch_t, unix_, 24);
AT(stretch_t, nanos, 32);
AT(stretch_t, realtime, 40);
AT(stretch_t, seen, 48);
AT(stretch_t, offset, 56);
AT(stretch_t, ticket, 64);
AT(stretch_t, check, 72);

SIZE(definition_t, 64);
AT(definition_t, hash, 0);
AT(definition_t, category, 8);
AT(definition_t, message, 12);
AT(definition_t, file, 16);
AT(definition_t, line, 20);
AT(definition_t, channels, 40);
AT(definition_t, priority, 26);
AT(definition_t, kind, 27);
AT(definition_t, arguments, 28);
AT(definition_t, flags, 34);

SIZE(thread_t, 128);
AT(thread_t, identity, 0);
AT(thread_t, tid, 4);
AT(thread_t, pid, 8);
AT(thread_t, live, 12);
AT(thread_t, start, 16);
AT(thread_t, end, 24);
AT(thread_t, process_name, 32);
AT(thread_t, generation, 48);
AT(thread_t, renames, 52);
AT(thread_t, name, 56);
AT(thread_t, group, 96);

SIZE(process_t, 384);
AT(process_t, identity, 0);
AT(process_t, pid, 4);
AT(process_t, start, 8);
AT(process_t, pid_namespace, 16);
AT(process_t, time_namespace, 56);
AT(process_t, joined, 24);
AT(process_t, name, 32);
AT(process_t, left, 48);
AT(process_t, executable, 64);
AT(process_t, size, 320);
AT(process_t, modified, 328);
AT(process_t, inode, 336);
AT(process_t, sha1, 344);

SIZE(lane_t, 64);
AT(lane_t, cursor, 0);
AT(lane_t, owner, 8);
AT(lane_t, saved, 16);
SIZE(chunk_t, 64);
AT(chunk_t, state, 0);
AT(chunk_t, before, 8);
AT(chunk_t, lane, 16);
AT(chunk_t, opened, 24);

SIZE(entry_t, 64);
AT(entry_t, ticks, 0);
AT(entry_t, event, 8);
AT(entry_t, core, 12);
AT(entry_t, slots, 14);
AT(entry_t, flags, 15);
AT(entry_t, thread, 16);
AT(entry_t, tid, 20);
AT(entry_t, args, 24);

#endif
