/* Messages between the processes of a parallel job: shared memory on one host, TCP between hosts.
 *
 * Every function may be called from any thread at any time. Two threads may use one connection; messages that one thread sends on a connection with one
 * tag are received in their order. What was begun goes on, and messages arrive, also while the program computes.
 *
 * Functions that return int give MGN_OK (0) or something positive that is said below, or a negative error (mgn_err): mgn_strerror names it,
 * mgn_last_error says what happened, to what. Connections, requests and messages are numbers: one that does not exist is MGN_ERR_HANDLE, a pointer that
 * must not be null MGN_ERR_ARGUMENT. Pointers to memory that is not the program's cannot be told apart.
 *
 * Timeouts are milliseconds; negative: forever. MGN_ERR_TIMEOUT says that the time has passed, and nothing else has happened.
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
