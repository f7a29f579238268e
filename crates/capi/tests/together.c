/* Several processes: threads that share connections and have some of their own, messages in place, memory that others write to, a broadcast from each. */
#include "../examples/check.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 200
#define LONGEST 40000
#define PATIENCE 20000

static int rank, size;
static mgn_conn conns[64];

static void require(int is_so, const char *what)
{
    if (!is_so) {
        fprintf(stderr, "rank %d: %s\n", rank, what);
        exit(1);
    }
}

static size_t length(int round)
{
    static const size_t lengths[] = {0, 1, 60, 3000, LONGEST};
    return lengths[round % 5];
}

/* One thread of each process has a tag of its own, on the connections that all of them use. */
static void *exchange(void *tag)
{
    uint64_t number = *(int *)tag;
    char *out = malloc(LONGEST), *in = malloc(LONGEST);
    for (int round = 0; round < ROUNDS; round++) {
        size_t len = length(round);
        memset(out, (int)number + round + rank, len);
        mgn_request sends[64];
        struct iovec from = {out, len}, to = {in, LONGEST};
        for (int other = 0; other < size; other++)
            CHECK(mgn_isend(conns[other], number, &from, 1, round % 3 ? 0 : MGN_SYNC, &sends[other]));
        for (int other = 0; other < size; other++) {
            mgn_request receive;
            mgn_status status;
            CHECK(mgn_irecv(conns[other], number, 0, &to, 1, &receive));
            CHECK(mgn_wait(&receive, PATIENCE, &status));
            require(status.length == len && status.tag == number && status.conn == conns[other], "a message is another one");
            char wanted = (char)(number + round + other);
            require(len == 0 || (in[0] == wanted && in[len - 1] == wanted), "a message is damaged");
        }
        for (int other = 0; other < size; other++)
            CHECK(mgn_wait(&sends[other], PATIENCE, NULL));
    }
    free(out);
    free(in);
    return NULL;
}

/* Several threads receive all messages with one tag: each message goes to one of them. */
/* The same with messages that are written where they are sent from, and read in place. Their requests are not waited for. */
static void *in_place(void *tag)
{
    uint64_t number = 100 + *(int *)tag;
    for (int round = 0; round < ROUNDS; round++) {
        size_t len = length(round);
        for (int other = 0; other < size; other++) {
            mgn_reservation reservation, unused;
            void *room, *nothing;
            CHECK(mgn_reserve(conns[other], LONGEST, &room, &reservation));
            CHECK(mgn_reserve(conns[other], len, &nothing, &unused));
            memset(room, (int)number + round + rank, len);
            memset(nothing, 0, len);
            CHECK(mgn_commit(reservation, len, number, 0, NULL));
            CHECK(mgn_discard(unused));
        }
        for (int other = 0; other < size; other++) {
            mgn_message message;
            mgn_status status;
            const void *data;
            CHECK(mgn_take(conns[other], number, 0, PATIENCE, &data, &status, &message));
            require(status.length == len && status.conn == conns[other], "a message is another one");
            const char *bytes = data;
            char wanted = (char)(number + round + other);
            require(len == 0 || (bytes[0] == wanted && bytes[len - 1] == wanted), "a message is damaged");
            CHECK(mgn_release(message));
        }
    }
    return NULL;
}

static int got[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *collect(void *nothing)
{
    (void)nothing;
    for (int round = 0; round < ROUNDS; round++) {
        mgn_message message;
        mgn_status status;
        const void *data;
        CHECK(mgn_take(MGN_ANY, 50, 0, PATIENCE, &data, &status, &message));
        int from;
        memcpy(&from, data, sizeof from);
        require(status.length == sizeof from && mgn_rank_of(status.conn) == from, "a message is not its sender's");
        CHECK(mgn_release(message));
        pthread_mutex_lock(&lock);
        got[from]++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void barrier(void)
{
    for (int other = 0; other < size; other++) {
        mgn_request request;
        CHECK(mgn_isend(conns[other], 60, NULL, 0, 0, &request));
        CHECK(mgn_wait(&request, PATIENCE, NULL));
    }
    for (int other = 0; other < size; other++) {
        mgn_request request;
        CHECK(mgn_irecv(conns[other], 60, 0, NULL, 0, &request));
        CHECK(mgn_wait(&request, PATIENCE, NULL));
    }
}

static void in_threads(void *(*work)(void *))
{
    pthread_t threads[THREADS];
    int tags[THREADS];
    for (int thread = 0; thread < THREADS; thread++) {
        tags[thread] = 10 + thread;
        require(pthread_create(&threads[thread], NULL, work, &tags[thread]) == 0, "no thread");
    }
    for (int thread = 0; thread < THREADS; thread++)
        require(pthread_join(threads[thread], NULL) == 0, "a thread is lost");
}

/* Each rank writes its part of every rank's memory, and reads its neighbour's back. */
static void memory(void)
{
    char *table = calloc(size, LONGEST), *mine = malloc(LONGEST), *back = malloc(LONGEST);
    mgn_key own, key;
    CHECK(mgn_offer(table, (size_t)size * LONGEST, &own));
    struct iovec told = {&own, sizeof own}, learnt = {&key, sizeof key}, piece = {mine, LONGEST}, place = {back, LONGEST};
    mgn_request tells[64], request;
    memset(mine, 'a' + rank, LONGEST);
    for (int other = 0; other < size; other++)
        CHECK(mgn_isend(conns[other], 70, &told, 1, 0, &tells[other]));
    for (int other = 0; other < size; other++) {
        mgn_status status;
        CHECK(mgn_irecv(conns[other], 70, 0, &learnt, 1, &request));
        CHECK(mgn_wait(&request, PATIENCE, &status));
        require(status.length == sizeof key, "no key");
        CHECK(mgn_put(conns[other], &key, (uint64_t)rank * LONGEST, &piece, 1, &request));
        CHECK(mgn_wait(&request, PATIENCE, &status));
        require(status.length == LONGEST && status.conn == conns[other], "a put says nonsense");
        CHECK(mgn_get(conns[other], &key, (uint64_t)rank * LONGEST, &place, 1, &request));
        CHECK(mgn_wait(&request, PATIENCE, NULL));
        require(memcmp(mine, back, LONGEST) == 0, "what was written is not what is read");
        CHECK(mgn_put(conns[other], &key, (uint64_t)size * LONGEST - 1, &piece, 1, &request));
        require(mgn_wait(&request, PATIENCE, NULL) == MGN_ERR_OFFER, "written beyond the memory");
    }
    for (int other = 0; other < size; other++)
        CHECK(mgn_wait(&tells[other], PATIENCE, NULL));
    barrier();
    CHECK(mgn_withdraw(&own));
    for (int at = 0; at < size * LONGEST; at++)
        require(table[at] == 'a' + at / LONGEST, "a part is missing");
    free(table);
    free(mine);
    free(back);
}

static void *never_comes(void *broadcast)
{
    mgn_message message;
    const void *data;
    size_t len;
    int ended = mgn_broadcast_take(*(mgn_broadcast *)broadcast, -1, &data, &len, &message);
    /* The second where the end was closed before this thread had begun. */
    require(ended == MGN_ERR_CLOSED || ended == MGN_ERR_HANDLE, "a message has come that was not sent");
    return NULL;
}

static void broadcasts(void)
{
    char *data = malloc(LONGEST);
    for (int root = 0; root < size; root++) {
        mgn_broadcast broadcast;
        if (rank == root) {
            CHECK(mgn_broadcast_open(3, LONGEST, size - 1, PATIENCE, &broadcast));
            for (int round = 0; round < ROUNDS; round++) {
                memset(data, round, length(round));
                CHECK(mgn_broadcast_send(broadcast, data, length(round)));
            }
            require(mgn_broadcast_readers(broadcast) == size - 1, "readers are lost");
            CHECK(mgn_broadcast_close(broadcast));
        } else {
            mgn_message message, held = 0;
            const void *taken;
            size_t len;
            CHECK(mgn_broadcast_join(root, 3, PATIENCE, &broadcast));
            require(mgn_broadcast_send(broadcast, "", 0) == MGN_ERR_ARGUMENT, "a reader writes");
            for (int round = 0; round < ROUNDS; round++) {
                CHECK(mgn_broadcast_take(broadcast, PATIENCE, &taken, &len, &message));
                require(len == length(round), "a broadcast of another length");
                const char *bytes = taken;
                require(len == 0 || (bytes[0] == (char)round && bytes[len - 1] == (char)round), "a broadcast is damaged");
                /* One is held while the next is taken. */
                if (held)
                    CHECK(mgn_release(held));
                held = message;
            }
            require(mgn_broadcast_take(broadcast, PATIENCE, &taken, &len, &message) == MGN_ERR_CLOSED, "no end");
            CHECK(mgn_release(held));
            CHECK(mgn_broadcast_close(broadcast));
        }
        barrier();
    }
    free(data);
    /* A thread that waits for a message learns that the end was closed. */
    mgn_broadcast broadcast;
    pthread_t thread;
    if (rank == 0) {
        CHECK(mgn_broadcast_open(4, LONGEST, size - 1, PATIENCE, &broadcast));
    } else {
        CHECK(mgn_broadcast_join(0, 4, PATIENCE, &broadcast));
        require(pthread_create(&thread, NULL, never_comes, &broadcast) == 0, "no thread");
        usleep(100000);
        CHECK(mgn_broadcast_close(broadcast));
        require(pthread_join(thread, NULL) == 0, "a thread is lost");
    }
    barrier();
}

static void *sends_on(void *broadcast)
{
    static char data[LONGEST];
    int ended;
    while ((ended = mgn_broadcast_send(*(mgn_broadcast *)broadcast, data, LONGEST)) == MGN_OK)
        ;
    /* The second where this thread was between two messages. */
    require(ended == MGN_ERR_CLOSED || ended == MGN_ERR_STATE, "a send ends in another way");
    return NULL;
}

static void *waits_for_readers(void *nothing)
{
    mgn_broadcast broadcast;
    (void)nothing;
    int ended = mgn_broadcast_open(6, LONGEST, size, -1, &broadcast);
    require(ended == MGN_ERR_CLOSED || ended == MGN_ERR_STATE, "more readers have come than there are");
    return NULL;
}

static void *waits_for_a_writer(void *nothing)
{
    mgn_broadcast broadcast;
    (void)nothing;
    int ended = mgn_broadcast_join(size - 1, 7, -1, &broadcast);
    require(ended == MGN_ERR_CLOSED || ended == MGN_ERR_STATE, "a broadcast is read that was not written");
    return NULL;
}

/* Rank 0 leaves while its threads wait for others, and comes back; the others wait for that, and read nothing. */
static void leave_while_sending(void)
{
    mgn_broadcast broadcast;
    pthread_t sending, waiting, joining;
    char byte;
    if (rank == 0) {
        CHECK(mgn_broadcast_open(5, LONGEST, size - 1, PATIENCE, &broadcast));
        require(pthread_create(&sending, NULL, sends_on, &broadcast) == 0, "no thread");
        require(pthread_create(&waiting, NULL, waits_for_readers, NULL) == 0, "no thread");
        require(pthread_create(&joining, NULL, waits_for_a_writer, NULL) == 0, "no thread");
        usleep(200000);
        CHECK(mgn_finalize());
        /* Threads that are not told would wait forever. */
        alarm(4 * PATIENCE / 1000);
        require(pthread_join(sending, NULL) == 0 && pthread_join(waiting, NULL) == 0, "a thread is lost");
        require(pthread_join(joining, NULL) == 0, "a thread is lost");
        alarm(0);
        CHECK(mgn_init());
        for (int other = 0; other < size; other++)
            CHECK(mgn_open(NULL, other, PATIENCE, &conns[other]));
    } else {
        CHECK(mgn_broadcast_join(0, 5, PATIENCE, &broadcast));
        require(mgn_recv(conns[0], &byte, 1, NULL) == MGN_ERR_CLOSED, "rank 0 has not left");
        CHECK(mgn_open(NULL, 0, PATIENCE, &conns[0]));
        CHECK(mgn_broadcast_close(broadcast));
    }
    barrier();
}

int main(void)
{
    CHECK(mgn_init());
    rank = CHECK(mgn_rank());
    size = CHECK(mgn_size());
    for (int other = 0; other < size; other++)
        CHECK(mgn_open(NULL, other, PATIENCE, &conns[other]));
    in_threads(exchange);
    in_threads(in_place);

    /* As many messages as all threads together receive, from all ranks. */
    pthread_t threads[THREADS];
    for (int thread = 0; thread < THREADS; thread++)
        require(pthread_create(&threads[thread], NULL, collect, NULL) == 0, "no thread");
    struct iovec self = {&rank, sizeof rank};
    int left = THREADS * ROUNDS;
    for (int turn = 0; left > 0; turn++, left--) {
        /* The same number from each to each; what is left over goes to oneself. */
        int to = left <= THREADS * ROUNDS % size ? rank : turn % size;
        mgn_request request;
        CHECK(mgn_isend(conns[to], 50, &self, 1, 0, &request));
        CHECK(mgn_wait(&request, PATIENCE, NULL));
    }
    for (int thread = 0; thread < THREADS; thread++)
        require(pthread_join(threads[thread], NULL) == 0, "a thread is lost");
    for (int other = 0; other < size; other++) {
        int extra = other == rank ? THREADS * ROUNDS % size : 0;
        require(got[other] == THREADS * ROUNDS / size + extra, "messages are lost");
    }
    barrier();
    memory();
    broadcasts();
    leave_while_sending();
    printf("rank %d: all is right\n", rank);
    CHECK(mgn_finalize());
    return 0;
}
