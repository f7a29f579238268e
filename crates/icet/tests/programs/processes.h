/* The processes of a program: those of MPI, or those that it forks itself, with a communicator of
 * shared memory. */

#pragma once

#ifdef WITH_MPI
#include <IceT.h>
#include <IceTMPI.h>

static void begin(int *argc, char ***argv, int *rank, int *size) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
}

static IceTCommunicator communicator(void) { return icetCreateMPICommunicator(MPI_COMM_WORLD); }

static void end_communicator(IceTCommunicator comm) { icetDestroyMPICommunicator(comm); }

static void end(void) { MPI_Finalize(); }

#else
#include "interface.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES_MAX 64
#define BYTES_MAX 4096

static struct {
    pthread_barrier_t barrier;
    unsigned char said[PROCESSES_MAX][BYTES_MAX];
} *shared;

static int own_rank, own_size;

/* Starts NP processes. The first one waits for the others, and ends with the worst of their statuses. */
static void begin(int *argc, char ***argv, int *rank, int *size) {
    (void)argc, (void)argv;
    const char *text = getenv("NP");
    own_size = text ? atoi(text) : 1;
    if (own_size < 1 || own_size > PROCESSES_MAX) {
        fprintf(stderr, "NP=%s: not understood\n", text);
        exit(2);
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t attribute;
    pthread_barrierattr_init(&attribute);
    pthread_barrierattr_setpshared(&attribute, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &attribute, own_size);
    for (own_rank = 0; own_rank < own_size; own_rank++)
        if (fork() == 0) break;
    if (own_rank < own_size) {
        alarm(120);
        setvbuf(stdout, NULL, _IOLBF, 0);
        *rank = own_rank;
        *size = own_size;
        return;
    }
    int worst = 0, status;
    while (wait(&status) > 0) {
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
        if (code > worst) worst = code;
    }
    exit(worst);
}

static IceTCommunicator duplicate(IceTCommunicator self) {
    IceTCommunicator copy = malloc(sizeof *copy);
    *copy = *self;
    return copy;
}

static void destroy(IceTCommunicator self) { free(self); }

static void allgather(IceTCommunicator self, const void *mine, int count, IceTEnum type, void *all) {
    (void)self;
    size_t bytes = (size_t)count * (type == ICET_INT ? 4 : 1);
    memcpy(shared->said[own_rank], mine, bytes);
    pthread_barrier_wait(&shared->barrier);
    for (int i = 0; i < own_size; i++) memcpy((char *)all + i * bytes, shared->said[i], bytes);
    pthread_barrier_wait(&shared->barrier);
}

static int comm_size(IceTCommunicator self) { return (void)self, own_size; }

static int comm_rank(IceTCommunicator self) { return (void)self, own_rank; }

static IceTCommunicator communicator(void) {
    struct IceTCommunicatorStruct comm = {.Duplicate = duplicate, .Destroy = destroy, .Allgather = allgather, .Comm_size = comm_size, .Comm_rank = comm_rank};
    return duplicate(&comm);
}

static void end_communicator(IceTCommunicator comm) { destroy(comm); }

static void end(void) { fflush(stdout); }
#endif
