/* Processes pass a barrier until rank 2 is killed. The pass fails for all others, which name it,
 * and then they pass without it. One of them leaves, and the rest goes on.
 *
 * usage: barriers KIND [early]      with early, rank 2 ends as soon as the barrier is open */
#include "../examples/check.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define VICTIM 2

static int refused(int result, int code)
{
    if (result != code)
        fprintf(stderr, "%d instead of %d: %s\n", result, code, mgn_last_error());
    return result == code;
}

static void wrong_arguments(void)
{
    mgn_barrier barrier;
    assert(refused(mgn_barrier_open(NULL, 0, NULL), MGN_ERR_ARGUMENT));
    mgn_barrier_options options = {.kind = "ring"};
    assert(refused(mgn_barrier_open(&options, 0, &barrier), MGN_ERR_ARGUMENT));
    options = (mgn_barrier_options){.combine = 4};
    assert(refused(mgn_barrier_open(&options, 0, &barrier), MGN_ERR_ARGUMENT));
    options = (mgn_barrier_options){.number = 65536};
    assert(refused(mgn_barrier_open(&options, 0, &barrier), MGN_ERR_ARGUMENT));
    uint32_t ranks[] = {0, 99};
    options = (mgn_barrier_options){.ranks = ranks, .rank_count = 2};
    assert(refused(mgn_barrier_open(&options, 0, &barrier), MGN_ERR_ARGUMENT));
    options.rank_count = 0;
    assert(refused(mgn_barrier_open(&options, 0, &barrier), MGN_ERR_ARGUMENT));
    assert(refused(mgn_barrier_pass(12345, 0, 0, NULL), MGN_ERR_HANDLE));
    assert(refused(mgn_barrier_close(12345), MGN_ERR_HANDLE));
}

static void *wait_for_ever(void *barrier)
{
    static int result;
    result = mgn_barrier_pass(*(mgn_barrier *)barrier, 0, -1, NULL);
    return &result;
}

/* A thread waits at a barrier that another one closes. */
static void closing(const char *kind)
{
    int rank = CHECK(mgn_rank());
    if (rank > 1)
        return;
    uint32_t ranks[] = {0, 1};
    mgn_barrier barrier;
    mgn_barrier_options options = {.kind = kind, .number = 9, .ranks = ranks, .rank_count = 2};
    CHECK(mgn_barrier_open(&options, 20000, &barrier));
    if (rank == 0) {
        pthread_t thread;
        void *result;
        assert(!pthread_create(&thread, NULL, wait_for_ever, &barrier));
        usleep(20000);
        assert(mgn_barrier_members(barrier, NULL, 0) >= 1);
        CHECK(mgn_barrier_close(barrier));
        assert(!pthread_join(thread, &result));
        /* Unless rank 1 was quick enough. */
        assert(*(int *)result == MGN_OK || refused(*(int *)result, MGN_ERR_CLOSED));
        assert(refused(mgn_barrier_wait(barrier, 0, NULL), MGN_ERR_HANDLE));
    } else {
        usleep(50000);
        /* Either rank 0 has gone before this one arrives, or it passes first. */
        int result = mgn_barrier_pass(barrier, 0, 20000, NULL);
        assert(result == MGN_OK || refused(result, MGN_ERR_CLOSED));
        CHECK(mgn_barrier_close(barrier));
    }
}

static void *leave_for_ever(void *barrier)
{
    static int result;
    result = mgn_barrier_leave(*(mgn_barrier *)barrier, -1);
    return &result;
}

static int is_stopped(int pid)
{
    char name[32], state = 0;
    snprintf(name, sizeof name, "/proc/%d/stat", pid);
    FILE *file = fopen(name, "r");
    assert(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
    fclose(file);
    return state == 'T';
}

/* The process that is stopped while a test runs. */
static pid_t stopped;

/* A test that fails does not leave it stopped, because the job waits for it. */
static void go_on(int signal)
{
    (void)signal;
    kill(stopped, SIGCONT);
}

/* A thread waits until it has left a barrier whose other member does not answer. Another thread
 * closes the barrier meanwhile. */
static void leaving(const char *kind)
{
    int rank = CHECK(mgn_rank());
    if (rank > 1)
        return;
    uint32_t ranks[] = {0, 1};
    uint64_t pid;
    mgn_barrier barrier;
    mgn_barrier_options options = {.kind = kind, .number = 10, .ranks = ranks, .rank_count = 2};
    CHECK(mgn_barrier_open(&options, 20000, &barrier));
    CHECK(mgn_barrier_pass(barrier, rank == 1 ? getpid() : 0, 20000, &pid));
    if (rank == 0) {
        pthread_t thread;
        void *result;
        stopped = pid;
        signal(SIGABRT, go_on);
        while (!is_stopped(pid))
            usleep(1000);
        assert(refused(mgn_barrier_leave(barrier, 0), MGN_ERR_TIMEOUT));
        assert(!pthread_create(&thread, NULL, leave_for_ever, &barrier));
        usleep(20000);
        CHECK(mgn_barrier_close(barrier));
        assert(!pthread_join(thread, &result));
        /* MGN_ERR_HANDLE if the thread begins only now. */
        assert(*(int *)result == MGN_ERR_HANDLE || refused(*(int *)result, MGN_ERR_CLOSED));
        kill(pid, SIGCONT);
        signal(SIGABRT, SIG_DFL);
    } else {
        raise(SIGSTOP);
        CHECK(mgn_barrier_close(barrier));
    }
}

/* The first two ranks open a barrier, and the last one joins it. The call after that names all. */
static void joining(const char *kind)
{
    int rank = CHECK(mgn_rank());
    if (rank == VICTIM)
        return;
    uint32_t ranks[] = {0, 1};
    uint64_t bits = 0;
    mgn_barrier barrier;
    mgn_barrier_options options = {.kind = kind, .number = 5, .ranks = ranks, .rank_count = 2};
    if (rank < 2) {
        CHECK(mgn_barrier_open(&options, 20000, &barrier));
    } else {
        options.rank_count = 0;
        assert(refused(mgn_barrier_join(&options, 0, &barrier), MGN_ERR_ARGUMENT));
        assert(refused(mgn_barrier_join(NULL, 0, &barrier), MGN_ERR_ARGUMENT));
        assert(refused(mgn_barrier_join(&options, 0, NULL), MGN_ERR_ARGUMENT));
        options.rank_count = 2;
        options.number = 6;
        assert(refused(mgn_barrier_join(&options, 200, &barrier), MGN_ERR_TIMEOUT));
        options.number = 5;
        options.kind = "udp";
        assert(refused(mgn_barrier_join(&options, 200, &barrier), MGN_ERR_ARGUMENT));
        options.kind = NULL;
        CHECK(mgn_barrier_join(&options, 20000, &barrier));
    }
    while (bits != 11)
        CHECK(mgn_barrier_pass(barrier, 1 << rank, 20000, &bits));
    assert(mgn_barrier_members(barrier, NULL, 0) == 3);
    /* Nobody closes it before the others have checked. */
    CHECK(mgn_barrier_pass(barrier, 0, 20000, NULL));
    CHECK(mgn_barrier_close(barrier));
}

static void work(const char *kind, int is_early)
{
    int rank = CHECK(mgn_rank());
    uint32_t ranks[8];
    uint64_t bits;
    mgn_barrier barrier;
    mgn_barrier_options options = {.kind = kind, .number = 3};
    CHECK(mgn_barrier_open(&options, 20000, &barrier));
    assert(refused(mgn_barrier_wait(barrier, 0, NULL), MGN_ERR_STATE));
    for (int pass = 0; pass < 100 && !is_early; pass++) {
        CHECK(mgn_barrier_pass(barrier, 1 << rank, 20000, &bits));
        assert(bits == 15);
    }
    if (rank == VICTIM && is_early)
        raise(SIGKILL);
    assert(is_early || (mgn_barrier_members(barrier, ranks, 8) == 4 && ranks[3] == 3));
    assert(is_early || mgn_barrier_members(barrier, NULL, 0) == 4);
    assert(mgn_barrier_lost(barrier, ranks, 8) == 0);
    /* The victim ends only after the others have checked the members. */
    if (!is_early)
        CHECK(mgn_barrier_pass(barrier, 1 << rank, 20000, &bits));
    if (rank == VICTIM)
        raise(SIGKILL);
    CHECK(mgn_barrier_arrive(barrier, 1 << rank));
    assert(refused(mgn_barrier_arrive(barrier, 0), MGN_ERR_STATE));
    assert(refused(mgn_barrier_leave(barrier, 0), MGN_ERR_STATE));
    assert(refused(mgn_barrier_wait(barrier, 20000, NULL), MGN_ERR_CLOSED));
    assert(mgn_barrier_lost(barrier, ranks, 8) == 1 && ranks[0] == VICTIM);
    for (int pass = 0; pass < 100; pass++) {
        CHECK(mgn_barrier_pass(barrier, 1 << rank, 20000, &bits));
        assert(bits == 11);
    }
    if (rank == 1) {
        CHECK(mgn_barrier_leave(barrier, 20000));
        assert(refused(mgn_barrier_pass(barrier, 0, 0, NULL), MGN_ERR_STATE));
    } else {
        for (int pass = 0; pass < 100; pass++) {
            CHECK(mgn_barrier_pass(barrier, 1 << rank, 20000, &bits));
            assert(bits == 9);
        }
    }
    CHECK(mgn_barrier_close(barrier));
    printf("all is right\n");
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 1;
    /* The one that is killed is a child, so that the test sees a process that ends well. */
    if (atoi(getenv("MGN_RANK")) == VICTIM) {
        pid_t child = fork();
        if (child > 0) {
            int status;
            waitpid(child, &status, 0);
            return !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
        }
    }
    CHECK(mgn_init());
    wrong_arguments();
    closing(argv[1]);
    if (strcmp(argv[1], "auto") && strcmp(argv[1], "shm"))
        leaving(argv[1]);
    if (!strcmp(argv[1], "star") || !strcmp(argv[1], "tree-2") || !strcmp(argv[1], "dissemination"))
        joining(argv[1]);
    work(argv[1], argc > 2);
    mgn_finalize();
    return 0;
}
