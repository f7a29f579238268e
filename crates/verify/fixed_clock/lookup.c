/* The library that calls, and the functions behind this library. */
#include "fixed_clock.h"

#include <EGL/egl.h>
#include <GL/glx.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

dlsym_function true_dlsym(void)
{
    static _Atomic(dlsym_function) found;
    dlsym_function known = atomic_load(&found);
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27"};
    for (size_t i = 0; !known && i < sizeof versions / sizeof *versions; i++)
        known = (dlsym_function)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    atomic_store(&found, known);
    return known;
}

function as_function(void *pointer)
{
    function result;
    memcpy(&result, &pointer, sizeof result);
    return result;
}

void *as_pointer(function f)
{
    void *result;
    memcpy(&result, &f, sizeof result);
    return result;
}

_Noreturn void complain(const char *what, const char *which)
{
    fprintf(stderr, "fixed_clock: %s '%s'\n", what, which);
    _exit(2);
}

__attribute__((constructor)) static void read_settings(void)
{
    read_clock_settings();
    read_seed();
    read_shot_settings();
}

/* Whether the code at this address belongs to the libraries below the program. */
bool is_below(const void *address)
{
    static _Thread_local const void *last_address;
    static _Thread_local bool last_answer;
    static const char *const prefixes[] = {"libGL.", "libGLX", "libEGL", "libGLdispatch", "libOpenGL", "libGLES", "libgallium", "libLLVM", "libglapi",
                                           "libX", "libxcb", "libxshm", "libdrm", "swrast", "kms_swrast", "zink"};
    if (address == last_address)
        return last_answer;
    Dl_info info;
    bool answer = false;
    if (dladdr(address, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        const char *name = slash ? slash + 1 : info.dli_fname;
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
            answer |= strncmp(name, prefixes[i], strlen(prefixes[i])) == 0;
    }
    last_address = address;
    last_answer = answer;
    return answer;
}

function next_function(const char *name, const char *library)
{
    void *found = true_dlsym()(RTLD_NEXT, name);
    if (!found) {
        void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
        found = handle ? true_dlsym()(handle, name) : NULL;
    }
    if (!found)
        complain("there is no", name);
    return as_function(found);
}

typedef function (*glx_lookup_function)(const GLubyte *);
typedef function (*egl_lookup_function)(const char *);

function lookup_glx(const char *name)
{
    return ((glx_lookup_function)next_function("glXGetProcAddressARB", "libGL.so.1"))((const GLubyte *)name);
}

function lookup_egl(const char *name)
{
    return ((egl_lookup_function)next_function("eglGetProcAddress", "libEGL.so.1"))(name);
}

/* The call at the end must stay a jump: the true dlsym() looks at its return address to find the caller. */
__attribute__((optimize("O2"))) EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    dlsym_function next = true_dlsym();
    function own = replacement(name);
    if (own && !CALLED_FROM_BELOW && next(handle, name))
        return as_pointer(own);
    return next(handle, name);
}
