/* Ends the program with one line where a call fails. */
#include <manganese.h>
#include <stdio.h>
#include <stdlib.h>

static inline int check(int result, const char *call)
{
    if (result < 0) {
        fprintf(stderr, "%s: %s: %s\n", call, mgn_strerror(result), mgn_last_error());
        exit(1);
    }
    return result;
}

#define CHECK(call) check(call, #call)
