/* Random numbers start from one seed, whatever the program's own is. */
#include "fixed_clock.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned seed = 1;

void read_seed(void)
{
    const char *text = getenv("MGN_CLOCK_SEED");
    if (text)
        seed = (unsigned)strtoul(text, NULL, 10);
    /* The seed for a program that gives none. */
    srand(seed);
    srandom(seed);
    srand48(seed);
}

#define SEED_FUNCTION(name, type)                                                                                                                     \
    EXPORT void name(type given)                                                                                                                      \
    {                                                                                                                                                 \
        (void)given;                                                                                                                                  \
        static void (*next)(type);                                                                                                                    \
        if (!next)                                                                                                                                    \
            next = (void (*)(type))as_function(true_dlsym()(RTLD_NEXT, #name));                                                                       \
        next((type)seed);                                                                                                                             \
    }
SEED_FUNCTION(srand, unsigned)
SEED_FUNCTION(srandom, unsigned)
SEED_FUNCTION(srand48, long)

/* The system's random bytes, which Python and others take their seeds from: those of splitmix64. */
EXPORT ssize_t getrandom(void *bytes, size_t count, unsigned flags)
{
    if (CALLED_FROM_BELOW)
        return syscall(SYS_getrandom, bytes, count, flags);
    static atomic_ullong drawn;
    unsigned char *to = bytes;
    for (size_t i = 0; i < count; i++) {
        unsigned long long z = (seed + atomic_fetch_add(&drawn, 1)) * 0x9e3779b97f4a7c15ULL;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
        to[i] = (unsigned char)(z >> 56);
    }
    return (ssize_t)count;
}

EXPORT int getentropy(void *bytes, size_t count)
{
    if (CALLED_FROM_BELOW)
        return syscall(SYS_getrandom, bytes, count, 0) == (long)count ? 0 : -1;
    getrandom(bytes, count, 0);
    return 0;
}
