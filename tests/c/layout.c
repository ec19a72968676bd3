/* Reads a snapshot by format.h alone and compares it with the logged events. layout DIR */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <timeline.h>

#include "check.h"
#include "format.h"

enum { WRITERS = 2, EVENTS = 100, FEW_ENTRIES = 1024 };

static timeline_t *tl;
static uint32_t plain, pair;
static uint32_t tids[WRITERS];

static void *write_some(void *number) {
  const intptr_t me = (intptr_t)number;
  CHECK_EQ(pthread_setname_np(pthread_self(), me ? "second" : "first"), 0);
  tids[me] = (uint32_t)syscall(SYS_gettid);
  for (int64_t i = 0; i < EVENTS; i++) timeline_log(tl, pair, me, -i, 0, 0);
  return NULL;
}

static uint64_t monotonic(void) {
  struct timespec now;
  CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &now), 0);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint32_t crc32(const unsigned char *bytes, size_t length) {
  uint32_t crc = ~UINT32_C(0);
  for (size_t i = 0; i < length; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
  }
  return ~crc;
}

static const unsigned char *file;
static const header_t *header;

/* Record `index` of a region, by the stride that the header gives. */
static const void *record(int region, uint64_t index) {
  const region_t *r = &header->regions[region];
  CHECK((index + 1) * r->stride <= r->length);
  return file + r->offset + index * r->stride;
}

static const char *string(uint32_t offset) {
  CHECK(offset < header->strings_used);
  return (const char *)file + header->regions[STRINGS].offset + offset;
}

static void check_header(size_t size) {
  static const unsigned char magic[8] = {0x89, 'T', 'L', 'N', '\r', '\n', 0x1a, '\n'};
  CHECK(memcmp(header->magic, magic, sizeof magic) == 0);
  CHECK_EQ(header->version_major, 1);
  CHECK_EQ(header->version_minor, 0);
  CHECK_EQ(header->header_size, sizeof(header_t));
  CHECK_EQ(header->flags, 1);
  CHECK_EQ(header->total_size, size);
  header_t copy = *header;
  copy.checksum = 0;
  CHECK_EQ(crc32((const unsigned char *)&copy, 0x800), header->checksum);

  CHECK_EQ(header->entries, FEW_ENTRIES);
  CHECK_EQ((uint64_t)header->chunks * header->chunk_entries, header->entries);
  CHECK(header->clock == 1 || header->clock == 2);
  CHECK_EQ(header->clock == 1, header->clock_reason == 0);
  CHECK(header->clock_reason <= 3);
  CHECK(memchr(header->clock_source, 0, sizeof header->clock_source));
  CHECK_EQ(header->creator_pid, getpid());
  char exe[sizeof header->creator_exe] = {0};
  CHECK(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
  CHECK(strncmp(header->creator_exe, exe, sizeof exe) == 0);
  CHECK_EQ(header->level, TIMELINE_APP);
  CHECK_EQ(header->boost, TIMELINE_NONE);
  CHECK_EQ(header->defined, 3);
  CHECK(header->anchors_taken >= 2);
  CHECK(header->anchors[1].ticks > header->anchors[0].ticks);
  CHECK(header->anchors[1].realtime > header->created_unix);
  CHECK_EQ(header->stretches.stride, 80);
  CHECK(header->newest_stretch >= 1);
  {
    const uint64_t slots = header->stretches.length / 80;
    const stretch_t *stretches = (const stretch_t *)((const char *)file + header->stretches.offset);
    const stretch_t *first = &stretches[1 % slots];
    CHECK_EQ(first->serial, 1);
    CHECK_EQ(first->serial ^ first->from ^ first->ticks ^ first->unix_ ^ first->nanos ^ first->realtime ^ first->seen ^
                 first->offset ^ first->ticket,
             first->check);
    CHECK(monotonic() - (first->unix_ - first->offset) < UINT64_C(600000000000));
    CHECK(first->from > header->created_ticks && first->unix_ > header->created_unix);
  }

  const uint64_t counts[REGIONS] = {
      header->definitions, header->definitions, header->threads, header->processes,
      (uint64_t)header->cpu_lanes + header->thread_lanes, header->chunks, header->entries,
      header->regions[STRINGS].length, 64};
  const uint64_t sizes[REGIONS] = {1, sizeof(definition_t), sizeof(thread_t), sizeof(process_t),
                                   sizeof(lane_t), sizeof(chunk_t), sizeof(entry_t), 1,
                                   sizeof(entry_t)};
  uint64_t end = sizeof(header_t);
  for (int i = 0; i < REGIONS; i++) {
    const region_t *region = &header->regions[i];
    CHECK_EQ(region->stride, sizes[i]);
    CHECK_EQ(region->length, counts[i] * sizes[i]);
    CHECK(region->offset >= end && region->offset % 4096 == 0);
    end = region->offset + region->length;
  }
  CHECK(end <= size);
  CHECK_EQ(header->regions[STRINGS].length - header->interned, 4096);
}

static void check_definitions(void) {
  const definition_t *d = record(DEFINITIONS, plain);
  CHECK(strcmp(string(d->category), "layout") == 0);
  CHECK(strcmp(string(d->message), "plain") == 0);
  CHECK_EQ(d->priority, TIMELINE_LIBRARY);
  CHECK_EQ(d->kind, 1);
  CHECK_EQ(d->arguments, 0);
  d = record(DEFINITIONS, pair);
  CHECK(strcmp(string(d->category), "layout") == 0);
  CHECK(strcmp(string(d->message), "pair $writer $count\nmore") == 0);
  CHECK_EQ(d->priority, TIMELINE_INFO);
  CHECK_EQ(d->arguments, 2);
  /* The level is app: one is on, one is off, and event 0 never is. */
  CHECK_EQ(*(const uint8_t *)record(ENABLE, pair), 1);
  CHECK_EQ(*(const uint8_t *)record(ENABLE, plain), 0);
  CHECK_EQ(*(const uint8_t *)record(ENABLE, 0), 0);
}

/* How many committed entries a chunk has. */
static uint64_t committed(const chunk_t *chunk) {
  const uint64_t ticket = chunk->state >> 16, low = chunk->state & 0x7fff;
  if (ticket == 0) return 0;
  if (!(chunk->state & 0x8000)) return low;
  const lane_t *lane = record(LANES, low);
  return lane->cursor >> 16 == ticket ? lane->cursor & 0xffff : 0;
}

static void check_entries(void) {
  int64_t next[WRITERS] = {0};
  uint64_t total = 0, last[WRITERS] = {0};
  /* A lane takes its chunks in the order of their tickets, so walk by ticket. */
  for (uint64_t ticket = 1; ticket < header->next_ticket; ticket++) {
    const uint64_t number = ticket % header->chunks;
    const chunk_t *chunk = record(CHUNKS, number);
    if (chunk->state >> 16 != ticket) continue;
    const uint64_t count = committed(chunk);
    CHECK(count <= header->chunk_entries);
    for (uint64_t i = 0; i < count; i++) {
      const entry_t *entry = record(ENTRIES, number * header->chunk_entries + i);
      CHECK_EQ(entry->event, pair);
      const int64_t writer = entry->args[0];
      CHECK(writer >= 0 && writer < WRITERS);
      CHECK_EQ(entry->args[1], -next[writer]);
      next[writer]++;
      CHECK(entry->ticks != 0 && entry->ticks >= last[writer]);
      last[writer] = entry->ticks;
      CHECK_EQ(entry->slots, 1);
      CHECK_EQ(entry->tid, tids[writer]);
      const thread_t *thread = record(THREADS, entry->thread & 0xffff);
      CHECK_EQ(thread->identity, entry->thread);
      CHECK_EQ(thread->tid, tids[writer]);
      CHECK_EQ(thread->pid, getpid());
      CHECK(strncmp(thread->name, writer ? "second" : "first", 16) == 0);
      CHECK(thread->start <= entry->ticks);
      total++;
    }
  }
  CHECK_EQ(total, WRITERS * EVENTS);
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  char ring[4096], snapshot[4096];
  snprintf(ring, sizeof ring, "%s/ring", argv[1]);
  snprintf(snapshot, sizeof snapshot, "%s/snapshot.timeline", argv[1]);
  CHECK_EQ(timeline_new(ring, FEW_ENTRIES, 4096, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define(tl, "layout", TIMELINE_LIBRARY, "plain", &plain), TIMELINE_OK);
  CHECK_EQ(timeline_define(tl, "layout", TIMELINE_INFO, "pair $writer $count\nmore", &pair), TIMELINE_OK);
  CHECK_EQ(timeline_priority(tl, TIMELINE_APP), TIMELINE_OK);
  pthread_t threads[WRITERS];
  for (intptr_t i = 0; i < WRITERS; i++) CHECK_EQ(pthread_create(&threads[i], NULL, write_some, (void *)i), 0);
  for (int i = 0; i < WRITERS; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  CHECK_EQ(timeline_save(tl, snapshot), TIMELINE_OK);

  const int fd = open(snapshot, O_RDONLY);
  struct stat stat;
  CHECK(fd >= 0 && fstat(fd, &stat) == 0);
  file = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  CHECK(file != MAP_FAILED);
  header = (const header_t *)file;
  check_header((size_t)stat.st_size);
  check_definitions();
  check_entries();
  timeline_free(tl);
  puts("layout: ok");
  return 0;
}
