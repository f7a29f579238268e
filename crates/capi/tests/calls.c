/* Every function of the header, in a job of one, and what they say to wrong arguments. */
#include <manganese.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define IS(call, wanted)                                                                                        \
    do {                                                                                                        \
        long got = (call);                                                                                      \
        if (got != (long)(wanted)) {                                                                            \
            fprintf(stderr, "line %d: %s gives %ld (%s)\n", __LINE__, #call, got, mgn_last_error());            \
            exit(1);                                                                                            \
        }                                                                                                       \
    } while (0)

static int handled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void handler(void *context, mgn_conn from, uint64_t tag, const void *data, size_t length)
{
    pthread_mutex_lock(&lock);
    if (context == &handled && from && tag == 9 && length == 3 && !memcmp(data, "abc", 3))
        handled++;
    pthread_mutex_unlock(&lock);
}

static void *other_thread(void *conn)
{
    /* A thread's errors are its own. */
    IS(strlen(mgn_last_error()), 0);
    IS(mgn_send(*(mgn_conn *)conn, "hello", 5), MGN_OK);
    return NULL;
}

static void *waits(void *nothing)
{
    char byte;
    (void)nothing;
    /* It may begin to wait only when all is at its end. */
    int ended = mgn_recv(MGN_ANY, &byte, 1, NULL);
    IS(ended == MGN_ERR_CLOSED || ended == MGN_ERR_STATE, 1);
    return NULL;
}

typedef struct {
    mgn_compositor compositor;
    int drawn, shown, fails;
} drawing;

static int draw_tile(void *context, uint32_t tile, const mgn_rectangle *place, void *color, void *depth,
                     mgn_rectangle *covered)
{
    drawing *d = context;
    IS(depth == NULL, 1);
    IS(covered->column == 0 && covered->row == 0, 1);
    IS(covered->width == place->width && covered->height == place->height, 1);
    for (uint32_t pixel = 0; pixel < place->width * place->height; pixel++)
        memset((char *)color + 4 * pixel, 10 * place->column + place->row + 1, 4);
    /* The compositor is busy. */
    mgn_composition composition = {.width = 2, .height = 1};
    mgn_merged merged;
    IS(mgn_composite(d->compositor, &composition, color, NULL, &merged), MGN_ERR_STATE);
    IS(mgn_composite_tiles(d->compositor, &composition, NULL, 0, draw_tile, NULL, d), MGN_ERR_STATE);
    IS(mgn_compositor_attach(d->compositor, 0, MGN_TOP_DOWN), MGN_ERR_STATE);
    IS(mgn_compositor_hosts(d->compositor), MGN_ERR_STATE);
    IS(mgn_compositor_close(d->compositor), MGN_ERR_STATE);
    if (tile == 1)
        covered->width = 1;
    d->drawn++;
    return d->fails;
}

static int show_tile(void *context, uint32_t tile, const mgn_rectangle *place, const mgn_merged *merged)
{
    drawing *d = context;
    const unsigned char *color = merged->color;
    IS(merged->first == 0 && merged->pixels == place->width * place->height, 1);
    IS(color[0], 10 * place->column + place->row + 1);
    /* Areas that were not covered show nothing. */
    IS(color[4], tile == 1 ? 0 : color[0]);
    d->shown++;
    return 0;
}

static void tiles(mgn_compositor compositor)
{
    mgn_composition composition = {.width = 4, .height = 3, .operation = MGN_OVER};
    mgn_tile two[2] = {
        {.place = {.column = 0, .row = 1, .width = 2, .height = 2}},
        {.place = {.column = 2, .row = 0, .width = 2, .height = 1}},
    };
    drawing d = {.compositor = compositor};
    IS(mgn_composite_tiles(compositor, &composition, two, 2, draw_tile, show_tile, &d), MGN_OK);
    IS(d.drawn == 2 && d.shown == 2, 1);
    IS(mgn_composite_tiles(compositor, &composition, two, 2, draw_tile, NULL, &d), MGN_OK);
    IS(mgn_composite_tiles(compositor, &composition, two, 0, draw_tile, show_tile, &d), MGN_OK);
    IS(d.drawn == 4 && d.shown == 2, 1);
    /* The whole picture as one tile. */
    IS(mgn_composite_tiles(compositor, &composition, NULL, 0, draw_tile, show_tile, &d), MGN_OK);
    IS(d.drawn == 5 && d.shown == 3, 1);
    composition.to = -1;
    IS(mgn_composite_tiles(compositor, &composition, NULL, 0, draw_tile, show_tile, &d), MGN_ERR_ARGUMENT);
    IS(mgn_composite_tiles(compositor, &composition, two, 2, NULL, show_tile, &d), MGN_ERR_ARGUMENT);
    IS(mgn_composite_tiles(compositor, NULL, two, 2, draw_tile, show_tile, &d), MGN_ERR_ARGUMENT);
    IS(mgn_composite_tiles(compositor + 99, &composition, two, 2, draw_tile, show_tile, &d), MGN_ERR_HANDLE);
    two[1].to = 1;
    IS(mgn_composite_tiles(compositor, &composition, two, 2, draw_tile, show_tile, &d), MGN_ERR_ARGUMENT);
    two[1].to = 0;
    two[1].place.width = 3;
    IS(mgn_composite_tiles(compositor, &composition, two, 2, draw_tile, show_tile, &d), MGN_ERR_ARGUMENT);
    two[1].place.width = 0xffffffff;
    IS(mgn_composite_tiles(compositor, &composition, two, 2, draw_tile, show_tile, &d), MGN_ERR_ARGUMENT);
    IS(d.drawn == 5 && d.shown == 3, 1);
    /* After a function that fails, the compositor is of no further use. */
    d.fails = 7;
    IS(mgn_composite_tiles(compositor, &composition, two, 1, draw_tile, show_tile, &d), MGN_ERR_CANCELLED);
    IS(strcmp(mgn_last_error(), "draw has returned 7 for tile 0"), 0);
    d.fails = 0;
    IS(mgn_composite_tiles(compositor, &composition, two, 1, draw_tile, show_tile, &d), MGN_ERR_COMPOSITE);
}

static void visibility(void)
{
    const double before[3] = {0.5, 0.5, -1}, behind[3] = {0.5, 0.5, 9}, up[3] = {0, 0, 1};
    mgn_brick bricks[3] = {
        {.rank = 7, .min = {0, 0, 1}, .max = {1, 1, 5}},
        {.rank = 2, .min = {0, 0, 0}, .max = {1, 1, 1}},
        {.rank = 7, .min = {0, 0, 5}, .max = {1, 1, 6}},
    };
    uint32_t order[4] = {0, 0, 0, 99}, length = 9;
    IS(mgn_front_to_back(before, 0, bricks, 3, order, &length), MGN_OK);
    IS(length == 2 && order[0] == 2 && order[1] == 7 && order[3] == 99, 1);
    IS(mgn_front_to_back(behind, 0, bricks, 3, order, &length), MGN_OK);
    IS(length == 2 && order[0] == 7 && order[1] == 2, 1);
    IS(mgn_front_to_back(up, 1, bricks, 3, order, &length), MGN_OK);
    IS(length == 2 && order[0] == 2 && order[1] == 7, 1);
    IS(mgn_front_to_back(up, 1, NULL, 0, NULL, &length), MGN_OK);
    IS(length, 0);
    IS(mgn_front_to_back(NULL, 0, bricks, 3, order, &length), MGN_ERR_ARGUMENT);
    IS(mgn_front_to_back(up, 1, NULL, 3, order, &length), MGN_ERR_ARGUMENT);
    IS(mgn_front_to_back(up, 1, bricks, 3, NULL, &length), MGN_ERR_ARGUMENT);
    IS(mgn_front_to_back(up, 1, bricks, 3, order, NULL), MGN_ERR_ARGUMENT);
    bricks[0].min[2] = 0.5;
    IS(mgn_front_to_back(up, 1, bricks, 3, order, &length), MGN_ERR_ARGUMENT);
    IS(strncmp(mgn_last_error(), "bricks 0 and 1 overlap", 22), 0);
    IS(length, 0);
}

static void wrong_arguments(mgn_conn own)
{
    struct iovec piece = {NULL, 5}, many[2000];
    char data[8];
    void *room;
    mgn_reservation reservation;
    mgn_request request = 0;
    mgn_status status;
    memset(many, 0, sizeof many);
    IS(mgn_init(), MGN_ERR_STATE);
    IS(mgn_open(NULL, 0, 0, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_open(NULL, 1, 0, &own), MGN_ERR_JOB);
    IS(mgn_open("elsewhere", 0, 0, &own), MGN_ERR_ARGUMENT);
    IS(mgn_open("\xff", 0, 0, &own), MGN_ERR_ARGUMENT);
    IS(mgn_send(own, NULL, 1), MGN_ERR_ARGUMENT);
    IS(mgn_send(own, data, (size_t)-1), MGN_ERR_ARGUMENT);
    IS(mgn_recv(own, NULL, 1, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_peek(own, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_isend(own, 0, NULL, 1, 0, &request), MGN_ERR_ARGUMENT);
    IS(mgn_isend(own, 0, &piece, 1, 0, &request), MGN_ERR_ARGUMENT);
    IS(mgn_isend(own, 0, (struct iovec *)1, 1, 0, &request), MGN_ERR_ARGUMENT);
    IS(mgn_isend(own, 0, many, 2000, 0, &request), MGN_ERR_ARGUMENT);
    IS(mgn_isend(own, 0, NULL, 0, 64, &request), MGN_ERR_ARGUMENT);
    IS(mgn_isend(own, 0, NULL, 0, 0, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_irecv(own, 0, 0, NULL, 0, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_take(own, 0, 0, 0, NULL, NULL, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_reserve(own, 1, NULL, &reservation), MGN_ERR_ARGUMENT);
    IS(mgn_reserve(own, 1, &room, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_reserve(own, (size_t)-1, &room, &reservation), MGN_ERR_SYSTEM);
    IS(mgn_wait(NULL, 0, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_waitany(NULL, 3, 0, NULL, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_set_handler(1, NULL, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_host(0, NULL, 5), MGN_ERR_ARGUMENT);
    for (mgn_conn wrong = 1; wrong; wrong <<= 7) {
        if (wrong == own)
            continue;
        IS(mgn_send(wrong, "", 0), MGN_ERR_HANDLE);
        IS(mgn_recv(wrong, data, 8, NULL), MGN_ERR_HANDLE);
        IS(mgn_poll(wrong, 0), MGN_ERR_HANDLE);
        IS(mgn_peek(wrong, &status), MGN_ERR_HANDLE);
        IS(mgn_close(wrong), MGN_ERR_HANDLE);
        IS(mgn_rank_of(wrong), MGN_ERR_HANDLE);
        IS(mgn_cancel(wrong << 32 | 77), MGN_ERR_HANDLE);
        IS(mgn_release(wrong), MGN_ERR_HANDLE);
        IS(mgn_reserve(wrong, 1, &room, &reservation), MGN_ERR_HANDLE);
        IS(mgn_commit(wrong, 0, 0, 0, &request), MGN_ERR_HANDLE);
        IS(mgn_discard(wrong), MGN_ERR_HANDLE);
        request = wrong << 32 | 77;
        IS(mgn_test(&request, NULL), MGN_ERR_HANDLE);
    }
    IS(mgn_send(MGN_ANY, "", 0), MGN_ERR_HANDLE);

    mgn_key key = {{0}};
    mgn_broadcast broadcast;
    mgn_message message;
    const void *taken;
    size_t length;
    IS(mgn_offer(NULL, 1, &key), MGN_ERR_ARGUMENT);
    IS(mgn_offer(data, 8, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_withdraw(NULL), MGN_ERR_ARGUMENT);
    IS(mgn_withdraw(&key), MGN_ERR_HANDLE);
    IS(mgn_put(own, NULL, 0, NULL, 0, &request), MGN_ERR_ARGUMENT);
    IS(mgn_put(own, &key, 0, NULL, 1, &request), MGN_ERR_ARGUMENT);
    IS(mgn_get(own, &key, 0, NULL, 0, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_get(own + 1, &key, 0, NULL, 0, &request), MGN_ERR_HANDLE);
    IS(mgn_get(own, &key, 0, NULL, 0, &request), MGN_OK);
    IS(mgn_wait(&request, -1, NULL), MGN_ERR_OFFER);
    IS(mgn_broadcast_open(1, (size_t)-1, 0, 0, &broadcast), MGN_ERR_ARGUMENT);
    IS(mgn_broadcast_open(1, 1, 0, 0, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_broadcast_open(1, 1, 1, 5, &broadcast), MGN_ERR_TIMEOUT);
    IS(mgn_broadcast_join(0, 1, 0, &broadcast), MGN_ERR_JOB);
    IS(mgn_broadcast_join(1, 1, 0, &broadcast), MGN_ERR_JOB);
    IS(mgn_broadcast_join(1, 1, 0, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_broadcast_close(77), MGN_ERR_HANDLE);
    IS(mgn_broadcast_send(77, "", 0), MGN_ERR_HANDLE);
    IS(mgn_broadcast_take(77, 0, &taken, &length, &message), MGN_ERR_HANDLE);
    IS(mgn_broadcast_open(1, 10000, 0, 0, &broadcast), MGN_OK);
    IS(mgn_broadcast_open(1, 10000, 0, 0, &broadcast), MGN_ERR_JOB);
    IS(mgn_broadcast_send(broadcast, NULL, 1), MGN_ERR_ARGUMENT);
    IS(mgn_broadcast_send(broadcast, many, 10001), MGN_ERR_ARGUMENT);
    IS(mgn_broadcast_send(broadcast, "to nobody", 9), MGN_OK);
    IS(mgn_broadcast_take(broadcast, 0, &taken, &length, &message), MGN_ERR_ARGUMENT);
    IS(mgn_broadcast_take(broadcast, 0, NULL, NULL, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_broadcast_readers(broadcast), 0);
    IS(mgn_broadcast_close(broadcast), MGN_OK);
    IS(mgn_broadcast_close(broadcast), MGN_ERR_HANDLE);
}

/* Outlets, in a new folder. */
static void outlets(void)
{
    char folder[] = "/tmp/mgn-calls-XXXXXX", gone[64], first[64];
    IS(mkdtemp(folder) != NULL, 1);
    snprintf(gone, sizeof gone, "%s/gone", folder);
    snprintf(first, sizeof first, "%s/frame-000003.jpg", folder);
    mgn_outlet outlet;
    IS(mgn_outlet_files(NULL, "png", 1, &outlet), MGN_ERR_ARGUMENT);
    IS(mgn_outlet_files(folder, "bmp", 1, &outlet), MGN_ERR_ARGUMENT);
    IS(strstr(mgn_last_error(), "bmp") != NULL, 1);
    IS(mgn_outlet_files(folder, "png", 0, &outlet), MGN_ERR_ARGUMENT);
    IS(mgn_outlet_files(folder, "png", 1, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_outlet_files("/dev/null/folder", "png", 1, &outlet), MGN_ERR_OUTLET);
    IS(strstr(mgn_last_error(), "/dev/null/folder") != NULL, 1);

    unsigned char pixels[6][4] = {{1, 2, 3, 4}};
    mgn_picture picture = {.width = 3, .height = 2, .pixels = pixels};
    IS(mgn_outlet_files(folder, "jpeg", 1, &outlet), MGN_OK);
    IS(mgn_outlet_number(outlet + 1, 3, 4), MGN_ERR_HANDLE);
    IS(mgn_outlet_number(outlet, 0, 4), MGN_ERR_ARGUMENT);
    IS(mgn_outlet_number(outlet, 3, 0), MGN_ERR_ARGUMENT);
    IS(mgn_outlet_number(outlet, 1, UINT64_MAX), MGN_ERR_ARGUMENT);
    IS(mgn_outlet_number(outlet, 3, 4), MGN_OK);
    IS(mgn_outlet_show(outlet + 1, &picture), MGN_ERR_HANDLE);
    IS(mgn_outlet_show(outlet, NULL), MGN_ERR_ARGUMENT);
    picture.pixels = NULL;
    IS(mgn_outlet_show(outlet, &picture), MGN_ERR_ARGUMENT);
    picture.pixels = pixels;
    picture.width = 0;
    IS(mgn_outlet_show(outlet, &picture), MGN_ERR_ARGUMENT);
    picture.width = 0xffffffff;
    picture.height = 0xffffffff;
    IS(mgn_outlet_show(outlet, &picture), MGN_ERR_ARGUMENT);
    picture.width = 3;
    picture.height = 2;
    picture.color = MGN_RGBA32F;
    IS(mgn_outlet_show(outlet, &picture), MGN_ERR_ARGUMENT);
    picture.color = 77;
    IS(mgn_outlet_show(outlet, &picture), MGN_ERR_ARGUMENT);
    picture.color = MGN_RGBA8;
    picture.direction = 2;
    IS(mgn_outlet_show(outlet, &picture), MGN_ERR_ARGUMENT);
    picture.direction = MGN_BOTTOM_UP;
    /* None of these was a picture. */
    IS(access(first, F_OK), -1);
    IS(mgn_outlet_show(outlet, &picture), MGN_OK);
    IS(unlink(first), 0);
    IS(mgn_outlet_number(outlet, 6, 1), MGN_ERR_ARGUMENT);
    IS(strstr(mgn_last_error(), "from 7 to") != NULL, 1);
    IS(mgn_outlet_is_closed(outlet), 0);
    IS(mgn_outlet_close(outlet), MGN_OK);
    IS(mgn_outlet_close(outlet), MGN_ERR_HANDLE);
    IS(mgn_outlet_is_closed(outlet), MGN_ERR_HANDLE);
    IS(mgn_outlet_show(outlet, &picture), MGN_ERR_HANDLE);

    IS(mgn_outlet_window(":9999", NULL, &outlet), MGN_ERR_ARGUMENT);
    IS(mgn_outlet_window(":9999", "title", NULL), MGN_ERR_ARGUMENT);
    IS(mgn_outlet_window(":9999", "title", &outlet), MGN_ERR_OUTLET);
    IS(strstr(mgn_last_error(), ":9999") != NULL, 1);

    /* A folder that is no longer there is said each time. */
    IS(mgn_outlet_files(gone, NULL, 1, &outlet), MGN_OK);
    IS(rmdir(gone), 0);
    IS(mgn_outlet_show(outlet, &picture), MGN_ERR_OUTLET);
    IS(strstr(mgn_last_error(), gone) != NULL, 1);
    IS(mgn_outlet_show(outlet, &picture), MGN_ERR_OUTLET);
    IS(strstr(mgn_last_error(), gone) != NULL, 1);
    IS(mgn_outlet_close(outlet), MGN_OK);

    mgn_compositor compositor;
    IS(mgn_outlet_files(folder, "png", 1, &outlet), MGN_OK);
    IS(mgn_compositor_open(1000, &compositor), MGN_OK);
    IS(mgn_compositor_attach(compositor + 99, outlet, MGN_TOP_DOWN), MGN_ERR_HANDLE);
    IS(mgn_compositor_attach(compositor, outlet + 99, MGN_TOP_DOWN), MGN_ERR_HANDLE);
    IS(mgn_compositor_attach(compositor, outlet, -1), MGN_ERR_ARGUMENT);
    IS(mgn_compositor_attach(compositor, outlet, MGN_TOP_DOWN), MGN_OK);
    /* Floats are composited, and cannot be shown. */
    float floats[4] = {0.5f, 0.25f, 0, 1};
    mgn_composition composition = {.width = 1, .height = 1, .color = MGN_RGBA32F};
    mgn_merged merged = {.pixels = 99};
    IS(mgn_composite(compositor, &composition, floats, NULL, &merged), MGN_ERR_OUTLET);
    IS(merged.pixels == 1 && !memcmp(merged.color, floats, sizeof floats), 1);
    /* An outlet that was closed shows nothing. */
    IS(mgn_outlet_close(outlet), MGN_OK);
    IS(mgn_composite(compositor, &composition, floats, NULL, &merged), MGN_OK);
    IS(mgn_compositor_close(compositor), MGN_OK);
    IS(rmdir(folder), 0);
}

int main(void)
{
    mgn_conn own;
    mgn_status status;
    mgn_request request, requests[3];
    mgn_message message;
    mgn_reservation reservation;
    const void *taken;
    void *room;
    char data[64];
    size_t index;
    pthread_t thread;

    visibility();
    IS(mgn_rank(), MGN_ERR_STATE);
    IS(mgn_finalize(), MGN_ERR_STATE);
    IS(mgn_init_as("a job", 0, 1, NULL), MGN_ERR_JOB);
    IS(mgn_init_as(NULL, 0, 1, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_init_as("one", 3, 1, NULL), MGN_ERR_JOB);
    IS(mgn_init(), MGN_OK);
    IS(mgn_rank(), 0);
    IS(mgn_size(), 1);
    IS(mgn_host(0, data, sizeof data) > 0, 1);
    IS(mgn_open(data, 0, 0, &own), MGN_OK);
    IS(mgn_host(0, data, 2) > 0 && strlen(data) == 1, 1);
    IS(mgn_interfaces(data, sizeof data), 0);
    IS(mgn_rank_of(own), 0);
    wrong_arguments(own);

    IS(mgn_poll(own, 0), 0);
    IS(mgn_probe(own, 0, 0, 10, &status), MGN_ERR_TIMEOUT);
    IS(pthread_create(&thread, NULL, other_thread, &own), 0);
    IS(mgn_poll(own, -1), 1);
    IS(mgn_peek(own, &status), MGN_OK);
    IS(status.length, 5);
    IS(mgn_recv(own, data, sizeof data, &status), MGN_OK);
    IS(memcmp(data, "hello", 5), 0);
    IS(pthread_join(thread, NULL), 0);

    /* Tags, masks, lists of pieces, and which request takes which message. */
    struct iovec out[] = {{"ab", 2}, {NULL, 0}, {"cde", 3}}, in[] = {{data, 1}, {data + 8, 7}};
    IS(mgn_irecv(MGN_ANY, 0x10, 0xf, in, 2, &request), MGN_OK);
    IS(mgn_test(&request, NULL), 0);
    IS(mgn_wait(&request, 5, NULL), MGN_ERR_TIMEOUT);
    IS(mgn_isend(own, 0x23, out, 3, 0, &requests[0]), MGN_OK);
    IS(mgn_isend(own, 0x13, out, 3, 0, &requests[1]), MGN_OK);
    IS(mgn_wait(&request, -1, &status), MGN_OK);
    IS(request, 0);
    IS(status.tag == 0x13 && status.length == 5 && status.conn == own, 1);
    IS(data[0] == 'a' && !memcmp(data + 8, "bcde", 4), 1);
    IS(mgn_take(own, 0x23, 0, -1, &taken, &status, &message), MGN_OK);
    IS(status.length == 5 && !memcmp(taken, "abcde", 5), 1);
    IS(mgn_release(message), MGN_OK);
    IS(mgn_release(message), MGN_ERR_HANDLE);
    IS(mgn_wait(&requests[0], -1, NULL), MGN_OK);
    IS(mgn_wait(&requests[1], -1, NULL), MGN_OK);
    IS(mgn_test(&requests[1], NULL), 1);

    /* Written where it is sent from. */
    IS(mgn_reserve(own, 1000000, &room, &reservation), MGN_OK);
    memset(room, 'x', 1000000);
    IS(mgn_commit(reservation, 1000001, 5, 0, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_commit(reservation, 1, 5, 64, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_commit(reservation, 999999, 5, 0, NULL), MGN_OK);
    IS(mgn_commit(reservation, 1, 5, 0, NULL), MGN_ERR_HANDLE);
    IS(mgn_take(own, 5, 0, -1, &taken, &status, &message), MGN_OK);
    IS(status.length == 999999 && taken == room && ((const char *)taken)[999998] == 'x', 1);
    IS(mgn_release(message), MGN_OK);
    IS(mgn_reserve(own, 5, &room, &reservation), MGN_OK);
    memcpy(room, "abcde", 5);
    IS(mgn_commit(reservation, 3, 5, MGN_SYNC, &request), MGN_OK);
    IS(mgn_irecv(own, 5, 0, in, 2, &requests[0]), MGN_OK);
    IS(mgn_wait(&requests[0], -1, &status), MGN_OK);
    IS(mgn_wait(&request, -1, NULL), MGN_OK);
    IS(status.length == 3 && data[0] == 'a' && !memcmp(data + 8, "bc", 2), 1);
    IS(mgn_reserve(own, 5, &room, &reservation), MGN_OK);
    IS(mgn_discard(reservation), MGN_OK);
    IS(mgn_discard(reservation), MGN_ERR_HANDLE);
    IS(mgn_probe(own, 5, 0, 0, &status), MGN_ERR_TIMEOUT);

    /* Too long a message, cancelling, one of several. */
    IS(mgn_isend(own, 1, out, 3, 0, &requests[0]), MGN_OK);
    IS(mgn_irecv(own, 1, 0, in, 1, &request), MGN_OK);
    IS(mgn_wait(&request, -1, NULL), MGN_ERR_TRUNCATED);
    IS(mgn_wait(&requests[0], -1, NULL), MGN_OK);
    IS(mgn_irecv(own, 2, 0, in, 2, &requests[0]), MGN_OK);
    IS(mgn_irecv(own, 3, 0, in, 2, &requests[1]), MGN_OK);
    requests[2] = 0;
    IS(mgn_waitany(requests, 3, 5, &index, NULL), MGN_ERR_TIMEOUT);
    IS(mgn_cancel(requests[1]), 1);
    IS(mgn_waitany(requests, 3, -1, &index, NULL), MGN_ERR_CANCELLED);
    IS(index, 1);
    IS(mgn_isend(own, 2, out, 1, MGN_UNORDERED, &request), MGN_OK);
    IS(mgn_waitany(requests, 3, -1, &index, &status), MGN_OK);
    IS(index == 0 && status.length == 2, 1);
    IS(mgn_waitany(requests, 3, -1, &index, NULL), MGN_OK);
    IS(index, 3);
    IS(mgn_wait(&request, -1, NULL), MGN_OK);

    /* Handlers. */
    struct iovec abc = {"abc", 3};
    IS(mgn_set_handler(4, handler, &handled), MGN_OK);
    IS(mgn_isend_active(own, 4, 9, &abc, 1, MGN_SYNC, &request), MGN_OK);
    IS(mgn_wait(&request, 10000, NULL), MGN_OK);
    for (int tries = 0;; tries++) {
        pthread_mutex_lock(&lock);
        int done = handled;
        pthread_mutex_unlock(&lock);
        if (done)
            break;
        IS(tries < 10000, 1);
        usleep(1000);
    }

    /* Memory that is offered, here to oneself. */
    char offered[8] = "........";
    mgn_key key;
    IS(mgn_offer(offered, 8, &key), MGN_OK);
    IS(mgn_put(own, &key, 2, out, 3, &request), MGN_OK);
    IS(mgn_wait(&request, -1, &status), MGN_OK);
    IS(mgn_get(own, &key, 1, in, 2, &request), MGN_OK);
    IS(mgn_wait(&request, -1, NULL), MGN_ERR_OFFER);
    IS(mgn_get(own, &key, 0, in, 2, &request), MGN_OK);
    IS(mgn_wait(&request, -1, &status), MGN_OK);
    IS(data[0] == '.' && !memcmp(data + 8, ".abcde.", 7), 1);
    IS(mgn_withdraw(&key), MGN_OK);
    IS(mgn_withdraw(&key), MGN_ERR_HANDLE);
    IS(memcmp(offered, "..abcde.", 8), 0);

    /* Compositing, of one process alone. */
    mgn_compositor compositor;
    unsigned char colors[2][4] = {{9, 8, 7, 255}, {1, 2, 3, 4}};
    mgn_composition composition = {.width = 2, .height = 1};
    mgn_merged merged;
    uint32_t order[2] = {0, 0};
    IS(mgn_compositor_open(1000, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_compositor_open(1000, &compositor), MGN_OK);
    IS(mgn_compositor_hosts(compositor), 1);
    IS(mgn_compositor_hosts(compositor + 99), MGN_ERR_HANDLE);
    IS(mgn_composite(compositor, &composition, colors, NULL, &merged), MGN_OK);
    IS(merged.first == 0 && merged.pixels == 2 && !memcmp(merged.color, colors, 8), 1);
    IS(merged.depth == NULL, 1);
    IS(mgn_composite(compositor, NULL, colors, NULL, &merged), MGN_ERR_ARGUMENT);
    IS(mgn_composite(compositor, &composition, NULL, NULL, &merged), MGN_ERR_ARGUMENT);
    IS(mgn_composite(compositor, &composition, colors, NULL, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_composite(compositor + 99, &composition, colors, NULL, &merged), MGN_ERR_HANDLE);
    void *color, *depth = colors;
    IS(mgn_composite_drawn(compositor, &composition, NULL, &merged), MGN_ERR_ARGUMENT);
    IS(mgn_composite_draw(compositor, &composition, &color, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_composite_draw(compositor, NULL, &color, &depth), MGN_ERR_ARGUMENT);
    IS(mgn_composite_draw(compositor, &composition, &color, &depth), MGN_OK);
    IS(depth == NULL, 1);
    memcpy(color, colors, 8);
    IS(mgn_composite_drawn(compositor, &composition, NULL, NULL), MGN_ERR_ARGUMENT);
    IS(mgn_composite_drawn(compositor, &composition, NULL, &merged), MGN_OK);
    IS(merged.pixels == 2 && !memcmp(merged.color, colors, 8), 1);
    IS(mgn_composite_drawn(compositor, &composition, NULL, &merged), MGN_ERR_ARGUMENT);
    IS(mgn_composite_draw(compositor, &composition, &color, &depth), MGN_OK);
    composition.width = 1;
    composition.height = 2;
    IS(mgn_composite_drawn(compositor, &composition, NULL, &merged), MGN_ERR_ARGUMENT);
    composition.width = 2;
    composition.height = 1;
    mgn_rectangle covered = {.column = 1, .width = 2, .height = 1};
    IS(mgn_composite_draw(compositor, &composition, &color, &depth), MGN_OK);
    memcpy(color, colors, 8);
    IS(mgn_composite_drawn(compositor, &composition, &covered, &merged), MGN_ERR_ARGUMENT);
    covered.width = 1;
    IS(mgn_composite_drawn(compositor, &composition, &covered, &merged), MGN_OK);
    IS(merged.pixels == 2 && !memcmp(merged.color, "\0\0\0\0\1\2\3\4", 8), 1);
    composition.width = composition.height = 0xffffffff;
    IS(mgn_composite_draw(compositor, &composition, &color, &depth), MGN_ERR_ARGUMENT);
    IS(mgn_composite(compositor, &composition, colors, NULL, &merged), MGN_ERR_ARGUMENT);
    composition.width = 2;
    composition.height = 1;
    composition.operation = MGN_NEAREST;
    IS(mgn_composite(compositor, &composition, colors, NULL, &merged), MGN_ERR_ARGUMENT);
    composition.operation = 77;
    IS(mgn_composite(compositor, &composition, colors, NULL, &merged), MGN_ERR_ARGUMENT);
    composition.operation = MGN_OVER;
    composition.schedule = "radix-1";
    IS(mgn_composite(compositor, &composition, colors, NULL, &merged), MGN_ERR_ARGUMENT);
    composition.schedule = "tree-8";
    composition.to = 1;
    IS(mgn_composite(compositor, &composition, colors, NULL, &merged), MGN_ERR_ARGUMENT);
    composition.to = -1;
    composition.order = order;
    composition.order_length = 2;
    IS(mgn_composite(compositor, &composition, colors, NULL, &merged), MGN_ERR_ARGUMENT);
    composition.order_length = 1;
    IS(mgn_composite(compositor, &composition, colors, NULL, &merged), MGN_OK);
    tiles(compositor);
    IS(mgn_compositor_close(compositor), MGN_OK);
    IS(mgn_compositor_close(compositor), MGN_ERR_HANDLE);

    outlets();

    /* A forked child is in no job, and may join one of its own. */
    pid_t child = fork();
    if (child == 0) {
        IS(mgn_rank(), MGN_ERR_STATE);
        IS(mgn_init(), MGN_OK);
        IS(mgn_finalize(), MGN_OK);
        _exit(0);
    }
    int ended;
    IS(waitpid(child, &ended, 0), child);
    IS(ended, 0);
    IS(mgn_rank(), 0);

    /* A thread that waits at the end gets an error, and all may begin again. */
    IS(pthread_create(&thread, NULL, waits, NULL), 0);
    usleep(50000);
    IS(mgn_finalize(), MGN_OK);
    IS(pthread_join(thread, NULL), 0);
    IS(mgn_send(own, "", 0), MGN_ERR_STATE);
    IS(mgn_init(), MGN_OK);
    IS(mgn_finalize(), MGN_OK);
    IS(strcmp(mgn_strerror(MGN_ERR_TRUNCATED), "the message was longer than the memory for it"), 0);
    IS(strlen(mgn_strerror(-1000)) > 0 && strlen(mgn_strerror(5)) > 0, 1);
    puts("all calls do as they say");
    return 0;
}
