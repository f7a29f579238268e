/* Clocks, and what waits for them. */
#include "fixed_clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

/* In the past, so that a deadline computed from it has always passed already. */
#define EPOCH (1000000000LL * SECOND)
/* After this number of looks at the clock within one frame, the program counts as waiting for it. */
#define PATIENCE 20000

static long long step = SECOND / 60;
static atomic_llong elapsed;
static atomic_long looks;

void read_clock_settings(void)
{
    const char *text = getenv("MGN_CLOCK_STEP_NS");
    if (text)
        step = atoll(text);
}

static long long now(void)
{
    if (atomic_fetch_add(&looks, 1) > PATIENCE)
        atomic_fetch_add(&elapsed, SECOND / 1000);
    return atomic_load(&elapsed);
}

void pass(long long nanoseconds)
{
    if (nanoseconds > 0)
        atomic_fetch_add(&elapsed, nanoseconds);
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *out)
{
    if (CALLED_FROM_BELOW)
        return (int)syscall(SYS_clock_gettime, clock, out);
    long long time = now() + (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? EPOCH : SECOND);
    out->tv_sec = time / SECOND;
    out->tv_nsec = time % SECOND;
    return 0;
}

EXPORT int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    (void)zone;
    struct timespec time;
    if (CALLED_FROM_BELOW) {
        syscall(SYS_clock_gettime, CLOCK_REALTIME, &time);
    } else {
        long long at = now() + EPOCH;
        time = (struct timespec){at / SECOND, at % SECOND};
    }
    *out = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
    return 0;
}

EXPORT time_t time(time_t *out)
{
    struct timespec time;
    if (CALLED_FROM_BELOW)
        syscall(SYS_clock_gettime, CLOCK_REALTIME, &time);
    else
        time.tv_sec = (now() + EPOCH) / SECOND;
    if (out)
        *out = time.tv_sec;
    return time.tv_sec;
}

EXPORT clock_t clock(void)
{
    return (clock_t)(now() / (SECOND / CLOCKS_PER_SEC));
}

EXPORT clock_t times(struct tms *out)
{
    clock_t ticks = (clock_t)(now() / (SECOND / sysconf(_SC_CLK_TCK)));
    if (out)
        *out = (struct tms){.tms_utime = ticks};
    return ticks;
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *want, struct timespec *left)
{
    if (CALLED_FROM_BELOW)
        return syscall(SYS_clock_nanosleep, clock, flags, want, left) ? errno : 0;
    long long length = want->tv_sec * SECOND + want->tv_nsec;
    if (flags & TIMER_ABSTIME)
        length -= atomic_load(&elapsed) + (clock == CLOCK_REALTIME ? EPOCH : SECOND);
    pass(length);
    return 0;
}

EXPORT int nanosleep(const struct timespec *want, struct timespec *left)
{
    if (CALLED_FROM_BELOW)
        return (int)syscall(SYS_nanosleep, want, left);
    pass(want->tv_sec * SECOND + want->tv_nsec);
    return 0;
}

EXPORT int usleep(useconds_t microseconds)
{
    if (CALLED_FROM_BELOW) {
        struct timespec want = {microseconds / 1000000, microseconds % 1000000 * 1000};
        return (int)syscall(SYS_nanosleep, &want, NULL);
    }
    pass(microseconds * 1000LL);
    return 0;
}

EXPORT unsigned sleep(unsigned seconds)
{
    pass(seconds * SECOND);
    return 0;
}

void pass_a_frame(void)
{
    atomic_store(&looks, 0);
    pass(step);
}

void wait_milliseconds(int milliseconds)
{
    struct timespec want = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    syscall(SYS_nanosleep, &want, NULL);
}

static double true_time(clockid_t clock)
{
    struct timespec now;
    syscall(SYS_clock_gettime, clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / SECOND;
}

double true_seconds(void)
{
    return true_time(CLOCK_MONOTONIC);
}

double true_cpu_seconds(void)
{
    return true_time(CLOCK_PROCESS_CPUTIME_ID);
}

/* Waits for something to happen are real, and so is what happens. If nothing does, the time that was waited for has passed; a wait for nothing at all
 * is a sleep. */
static int waited(int result, const struct timespec *timeout, const void *caller)
{
    if (result == 0 && timeout && !is_below(caller))
        pass(timeout->tv_sec * SECOND + timeout->tv_nsec);
    return result;
}
#define WAITED(result, timeout) waited(result, timeout, __builtin_return_address(0))

EXPORT int pselect(int count, fd_set *restrict read, fd_set *restrict write, fd_set *restrict except, const struct timespec *restrict timeout,
                   const sigset_t *restrict mask)
{
    if (!read && !write && !except && timeout && !CALLED_FROM_BELOW)
        return WAITED(0, timeout);
    /* The system call changes the time that it is given, and wants the mask with its size. */
    struct timespec left = timeout ? *timeout : (struct timespec){0, 0};
    struct {
        const sigset_t *mask;
        size_t size;
    } masked = {mask, _NSIG / 8};
    return WAITED((int)syscall(SYS_pselect6, count, read, write, except, timeout ? &left : NULL, &masked), timeout);
}

EXPORT int select(int count, fd_set *restrict read, fd_set *restrict write, fd_set *restrict except, struct timeval *restrict timeout)
{
    struct timespec converted = {0, 0};
    if (timeout)
        converted = (struct timespec){timeout->tv_sec, timeout->tv_usec * 1000};
    if (!read && !write && !except && timeout && !CALLED_FROM_BELOW)
        return WAITED(0, &converted);
    struct timespec left = converted;
    return WAITED((int)syscall(SYS_pselect6, count, read, write, except, timeout ? &left : NULL, NULL), timeout ? &converted : NULL);
}

EXPORT int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    if (count == 0 && timeout && !CALLED_FROM_BELOW)
        return WAITED(0, timeout);
    struct timespec left = timeout ? *timeout : (struct timespec){0, 0};
    return WAITED((int)syscall(SYS_ppoll, descriptors, count, timeout ? &left : NULL, mask, _NSIG / 8), timeout);
}

EXPORT int poll(struct pollfd *descriptors, nfds_t count, int timeout)
{
    struct timespec converted = {timeout / 1000, timeout % 1000 * 1000000L};
    if (count == 0 && timeout >= 0 && !CALLED_FROM_BELOW)
        return WAITED(0, &converted);
    struct timespec left = converted;
    int result = (int)syscall(SYS_ppoll, descriptors, count, timeout < 0 ? NULL : &left, NULL, 0);
    return WAITED(result, timeout < 0 ? NULL : &converted);
}
