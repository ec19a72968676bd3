// spdlog's asynchronous logger: the caller queues a formatted text, a thread of spdlog writes it.
#define PEER_NAME "spdlog"
#define PEER_NOTE "blocks when its queue is full; writes text to a file in TMPDIR"
#include "common.h"

#include <memory>
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <string>
#include <unistd.h>

static std::shared_ptr<spdlog::logger> logger;

static void peer_open(int threads)
{
    (void)threads;
    const char *directory = getenv("TMPDIR");
    std::string path = directory ? directory : "/tmp";
    path += "/bench-spdlog-" + std::to_string(getpid()) + ".log";
    try {
        logger = spdlog::create_async<spdlog::sinks::basic_file_sink_mt>("bench", path, true);
    } catch (const spdlog::spdlog_ex &error) {
        bench_fail("%s: set TMPDIR to a directory that can be written", error.what());
    }
    // No process reads it, and a killed run leaves nothing behind.
    unlink(path.c_str());
}

static void *peer_thread(int thread)
{
    (void)thread;
    return logger.get();
}

static inline void peer_log(void *state, int64_t i)
{
    static_cast<spdlog::logger *>(state)->info("event a={} b={} c={} d={}", i, i + 1, i + 2, i + 3);
}

static void peer_drain(void)
{
    // The queue is processed in order: when it is empty, only the end of this flush can be left.
    logger->flush();
    while (spdlog::thread_pool()->queue_size() > 0)
        usleep(100);
}

static int64_t peer_lost(void)
{
    return static_cast<int64_t>(spdlog::thread_pool()->overrun_counter());
}

static void peer_close(void)
{
    logger.reset();
    spdlog::shutdown();
}

static const char *peer_version(void)
{
    static char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH);
    return version;
}
