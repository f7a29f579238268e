/* Messages between the processes of a parallel job: through shared memory on one host, over TCP between hosts.
 *
 * Every function may be called from any thread at any time, and several threads may use the same connection. Messages that one thread sends on one
 * connection with one tag are received in the order in which they were sent. Operations that have begun continue while the program computes, and messages
 * arrive meanwhile.
 *
 * A function that returns int returns MGN_OK (0) or a positive value that its comment describes, or else a negative error code (mgn_err). mgn_strerror
 * describes a code, and mgn_last_error the last failure. Connections, requests, messages and the like are numbers: a number that does not exist causes
 * MGN_ERR_HANDLE. A null pointer causes MGN_ERR_ARGUMENT, except where it is allowed. Other invalid pointers cannot be detected.
 *
 * Timeouts are in milliseconds; a negative timeout waits forever. MGN_ERR_TIMEOUT means that the time has passed. Except for compositors, the call then has no
 * other effect.
 *
 * Made from the library's sources by cargo xtask generate. */
#ifndef MANGANESE_H
#define MANGANESE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif
