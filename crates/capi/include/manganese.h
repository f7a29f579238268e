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

/* Errors ---------------------------------------------------------------------------------------- */

#define MGN_OK 0

typedef enum {
    // an argument makes no sense
    MGN_ERR_ARGUMENT = -1,
    // no such connection, request, message, reservation, memory, broadcast, compositor or outlet
    MGN_ERR_HANDLE = -2,
    // before mgn_init, after mgn_finalize, or mgn_init twice; or a function that draws or shows a
    // tile uses the compositor that is calling it
    MGN_ERR_STATE = -3,
    // the time has passed
    MGN_ERR_TIMEOUT = -4,
    // the other process has closed the connection or ended
    MGN_ERR_CLOSED = -5,
    // the message was longer than the memory for it; what fits was received
    MGN_ERR_TRUNCATED = -6,
    // the operation was given up
    MGN_ERR_CANCELLED = -7,
    // so many messages that nobody receives stand before it that it cannot come
    MGN_ERR_STARVED = -8,
    // what was said about the job makes no sense, or is in use
    MGN_ERR_JOB = -9,
    // the other process lets us not in: wrong secret, job or release
    MGN_ERR_REFUSED = -10,
    // a call to the system failed
    MGN_ERR_SYSTEM = -11,
    // a mistake of this library
    MGN_ERR_INTERNAL = -12,
    // the other process does not offer this memory, or less of it
    MGN_ERR_OFFER = -13,
    // the processes do not agree about what they composite
    MGN_ERR_COMPOSITE = -14,
    // pictures cannot be shown or saved there
    MGN_ERR_OUTLET = -15,
} mgn_err;

// What an error means. Never null.
const char *mgn_strerror(int error);

// What the last call in this thread that failed has to say, valid until the next one fails. Never
// null.
const char *mgn_last_error(void);

/* The job --------------------------------------------------------------------------------------- */

// Joins the job that the environment tells of: MGN_HOSTFILE, MPICH's or Open MPI's mpiexec, Slurm,
// or a job of one.
int mgn_init(void);

// Joins a job whose processes were given their places: rank r is on hosts[r]. With hosts null all
// are on this host.
int mgn_init_as(const char *job, uint32_t rank, uint32_t size, const char *const *hosts);

// Leaves the job. What was sent goes out; what waits ends with MGN_ERR_CLOSED; release messages
// first. mgn_init may follow.
int mgn_finalize(void);

// This process's rank, from 0.
int mgn_rank(void);

// The number of processes.
int mgn_size(void);

// Writes the name of a rank's host, cut to fit with its final zero byte. Gives the length of the
// whole name.
int mgn_host(uint32_t rank, char *name, size_t room);

// Likewise the network interfaces at which processes of other hosts are let in, as "eth0 10.0.0.1,
// ib0 10.1.0.1".
int mgn_interfaces(char *names, size_t room);

/* Connections ----------------------------------------------------------------------------------- */

// A connection to another process, or to this one. Numbers are not used again.
typedef uint64_t mgn_conn;

// Instead of a connection: whichever.
#define MGN_ANY 0

// The connection to a rank, made if there is none yet, from whichever end. Waits for that process
// to start. host is null, or what it has to be.
int mgn_open(const char *host, uint32_t rank, int timeout, mgn_conn *conn);

// The rank at a connection's other end.
int mgn_rank_of(mgn_conn conn);

// Closes a connection. What waits for it ends with MGN_ERR_CLOSED, at the other end, too.
int mgn_close(mgn_conn conn);

/* Whole messages, with tag 0 -------------------------------------------------------------------- */

// What is known of a message.
typedef struct {
    mgn_conn conn;
    uint64_t tag;
    // Of the message, in bytes.
    uint64_t length;
} mgn_status;

// Sends a message, and returns when the receiver has taken it.
int mgn_send(mgn_conn conn, const void *data, size_t length);

// 1: a message can be received. 0: none came in time.
int mgn_poll(mgn_conn conn, int timeout);

// Waits for the next message, and tells its length and where it comes from. It stays.
int mgn_peek(mgn_conn conn, mgn_status *status);

// Waits for the next message and receives it. status may be null.
int mgn_recv(mgn_conn conn, void *data, size_t room, mgn_status *status);

/* Operations that go on by themselves ----------------------------------------------------------- */

// For mgn_isend: it ends when the receiver has taken the message, not when the memory may be used
// again.
#define MGN_SYNC 1

// For mgn_isend: the message may overtake others.
#define MGN_UNORDERED 2

// An operation that has begun. 0 is one that has ended: it can be waited for.
typedef uint64_t mgn_request;

// Begins to send a message made of count pieces, one behind the other. They stay unchanged until
// the request has ended. flags: 0, MGN_SYNC, …
int mgn_isend(mgn_conn conn, uint64_t tag, const struct iovec *pieces, size_t count, int flags, mgn_request *request);

// Begins to receive a message from conn (or MGN_ANY) into the pieces, whose memory stays until the
// request has ended. It takes the first message whose tag equals tag in all bits that are not set
// in ignore: 0 takes this tag only, UINT64_MAX any.
int mgn_irecv(mgn_conn conn, uint64_t tag, uint64_t ignore, const struct iovec *pieces, size_t count, mgn_request *request);

// 1: the request has ended; it is set to 0. 0: it has not. status may be null.
int mgn_test(mgn_request *request, mgn_status *status);

// Waits until the request has ended, and sets it to 0. After MGN_ERR_TIMEOUT it goes on. How it
// ended is returned.
int mgn_wait(mgn_request *request, int timeout, mgn_status *status);

// Waits until one of several requests has ended, sets it to 0, and tells its place. Those that are
// 0 are passed over; if all are, index is count.
int mgn_waitany(mgn_request *requests, size_t count, int timeout, size_t *index, mgn_status *status);

// Gives a request up. 1: nothing had happened, and it has ended with MGN_ERR_CANCELLED. 0: it ends
// as it ends. It is waited for in either case.
int mgn_cancel(mgn_request request);

// Waits for a message with such a tag, as for mgn_irecv, and tells of it. It stays.
int mgn_probe(mgn_conn conn, uint64_t tag, uint64_t ignore, int timeout, mgn_status *status);

/* Messages where they lie ----------------------------------------------------------------------- */

// A message that was taken where it lies.
typedef uint64_t mgn_message;

// Memory that a message is being written into.
typedef uint64_t mgn_reservation;

// Waits for a message and gives it where it is, without a copy if its sender could put it there.
// It is valid until mgn_release; until then its sender can do without that memory. Over shared
// memory a hostile sender could still change it.
int mgn_take(mgn_conn conn, uint64_t tag, uint64_t ignore, int timeout, const void **data, mgn_status *status, mgn_message *message);

// Gives the message's memory back.
int mgn_release(mgn_message message);

// Gives memory to write a message of up to length bytes into, 64-byte aligned. Over shared memory
// the receiver takes it right there. Does not wait.
int mgn_reserve(mgn_conn conn, size_t length, void **data, mgn_reservation *reservation);

// Begins to send the first length bytes of it, after which data is no longer the program's. Nobody
// has to wait: request may be null. After MGN_ERR_ARGUMENT the reservation is as before, after
// other errors it is gone.
int mgn_commit(mgn_reservation reservation, size_t length, uint64_t tag, int flags, mgn_request *request);

// Gives the memory back without sending anything.
int mgn_discard(mgn_reservation reservation);

/* Active messages ------------------------------------------------------------------------------- */

// Called for a message, from any thread, one at a time. data is valid during the call, which may
// send, and should not wait.
typedef void (*mgn_handler)(void *context, mgn_conn from, uint64_t tag, const void *data, size_t length);

// Sets what is called for messages to handler number.
int mgn_set_handler(uint16_t number, mgn_handler handler, void *context);

// As mgn_isend, to a handler of the other process.
int mgn_isend_active(mgn_conn conn, uint16_t number, uint64_t tag, const struct iovec *pieces, size_t count, int flags, mgn_request *request);

/* Memory offered to other processes ------------------------------------------------------------- */

// What another process needs to know to write to or read from offered memory: send it there.
// Whoever has it may; nobody can guess it.
typedef struct {
    uint8_t bytes[16];
} mgn_key;

// Offers memory to those who are told its key. They write and read at any time, without this
// program's doing, until mgn_withdraw; so long the memory stays. The program looks at it when
// messages, or the like, say that nobody writes.
int mgn_offer(void *memory, size_t length, mgn_key *key);

// Ends an offer. Waits for what is under way.
int mgn_withdraw(const mgn_key *key);

// Begins to write the pieces, one behind the other, to memory that the other process offers, from
// byte offset on. They stay unchanged until the request has ended, which says that they are there.
// Neither messages nor others of its kind are waited for: two at once are in no order.
int mgn_put(mgn_conn conn, const mgn_key *key, uint64_t offset, const struct iovec *pieces, size_t count, mgn_request *request);

// Begins to read from such memory as many bytes as the pieces hold.
int mgn_get(mgn_conn conn, const mgn_key *key, uint64_t offset, const struct iovec *pieces, size_t count, mgn_request *request);

/* One writer, many readers ---------------------------------------------------------------------- */

// An end of a broadcast connection: every message of its writer goes to all readers, who share one
// copy of it on a host.
typedef uint64_t mgn_broadcast;

// Opens a broadcast connection to write to, by a number of the program's choice, and waits until
// so many readers have joined. Those who join later get what is sent from then on. No message is
// longer than longest bytes, at most 16 MiB. After MGN_ERR_TIMEOUT it is not open.
int mgn_broadcast_open(uint32_t number, size_t longest, uint32_t readers, int timeout, mgn_broadcast *broadcast);

// Joins the broadcast connection that another rank opens by that number, to read it. Waits for it
// to be opened.
int mgn_broadcast_join(uint32_t rank, uint32_t number, int timeout, mgn_broadcast *broadcast);

// Sends a message to all readers that there are; the memory may be used again. Waits while one of
// them holds too much; one that died is passed over.
int mgn_broadcast_send(mgn_broadcast broadcast, const void *data, size_t length);

// Writer: the number of readers, but for those that have not been found to be gone.
int mgn_broadcast_readers(mgn_broadcast broadcast);

// Waits for the next message and gives it where it is, as mgn_take does; mgn_release gives it
// back. MGN_ERR_CLOSED: there will be no more.
int mgn_broadcast_take(mgn_broadcast broadcast, int timeout, const void **data, size_t *length, mgn_message *message);

// Closes an end. Readers get what was sent, and then MGN_ERR_CLOSED. Threads that wait in
// mgn_broadcast_send or mgn_broadcast_take get that, too.
int mgn_broadcast_close(mgn_broadcast broadcast);

/* Many pictures become one ---------------------------------------------------------------------- */

// Colours of 4 bytes: red, green, blue and alpha.
#define MGN_RGBA8 0

// Colours of 4 half-precision floats.
#define MGN_RGBA16F 1

// Colours of 4 floats.
#define MGN_RGBA32F 2

// Pictures without depth.
#define MGN_DEPTH_NONE 0

// Depths of 32 bits, as GL_UNSIGNED_INT reads a depth buffer.
#define MGN_DEPTH_UINT 1

// Depths of one float. A NaN is farther than everything else.
#define MGN_DEPTH_FLOAT 2

// Blends colours, which are premultiplied with their alpha. The first picture of the order is in
// front.
#define MGN_OVER 0

// Takes the pixel with the smallest depth; of two alike, that of the first picture in the order.
#define MGN_NEAREST 1

// Takes the largest value of each channel.
#define MGN_MAX 2

// Takes the smallest value of each channel.
#define MGN_MIN 3

// Adds the values of each channel. Bytes stop at 255.
#define MGN_ADD 4

// A group of processes that composite pictures: all of the job.
typedef uint64_t mgn_compositor;

// What is composited. All processes have to say the same.
typedef struct {
    // In pixels.
    uint32_t width;
    uint32_t height;
    // MGN_RGBA8 and its like.
    int color;
    // MGN_DEPTH_NONE and its like.
    int depth;
    // MGN_OVER and its like.
    int operation;
    // The rank that gets the merged picture; negative: each process keeps the pixels that it has
    // merged.
    int to;
    // Which process sends which pixels to which other: direct, binary-swap, 2-3-swap, radix-K or
    // tree-K, as in radix-8. Null: the library chooses. Processes on one host then read each
    // other's pictures in place; in a job on several hosts, only neighbours in the order do so,
    // and only if to is a rank.
    const char *schedule;
    // The ranks whose pictures are merged, front to back. Those that it leaves out have nothing
    // to show, and cost nothing. Null: all ranks, by their numbers.
    const uint32_t *order;
    uint32_t order_length;
} mgn_composition;

// Merged pixels: so many, from the first one on, counted row by row.
typedef struct {
    const void *color;
    // Null without depth.
    const void *depth;
    uint64_t first;
    uint64_t pixels;
} mgn_merged;

// Pixels of a picture: from a column and a row on, which are counted as the rows of the picture
// lie in memory.
typedef struct {
    uint32_t column;
    uint32_t row;
    uint32_t width;
    uint32_t height;
} mgn_rectangle;

// A part of a large picture, such as one screen of a wall.
typedef struct {
    // Where it lies in the large picture. Tiles may overlap.
    mgn_rectangle place;
    // The rank that gets it.
    uint32_t to;
} mgn_tile;

// Draws this process's share of a tile. tile is its index in the array of tiles, and place is
// where it lies in the large picture. color and depth (null without depth) are memory for the
// pixels of the tile: rows without gaps, with undefined contents. covered holds the whole tile; a
// function that draws less sets it to the rectangle that it has drawn, counted from the tile's
// first pixel. Tiles of width or height 0 are drawn, too. Returns 0, or another number if it
// cannot draw.
typedef int (*mgn_draw)(void *context, uint32_t tile, const mgn_rectangle *place, void *color, void *depth, mgn_rectangle *covered);

// Gets a merged tile, which is valid during the call. Returns 0, or another number if something
// went wrong.
typedef int (*mgn_show)(void *context, uint32_t tile, const mgn_rectangle *place, const mgn_merged *merged);

// Makes a compositor of all processes of the job. All of them have to call this; it waits for
// them, for up to timeout milliseconds. So long may a process also make the others wait later. A
// process that has several compositors opens them in the same order as the others do. While there
// is one, receive nothing with whatever tag.
//
// MGN_ERR_COMPOSITE: another process runs another release. Other errors are those of
// mgn_composite.
int mgn_compositor_open(int timeout, mgn_compositor *compositor);

// Gives how many hosts the processes of a compositor are on, as they see it: those that share
// memory are on one host. A process that cannot share memory counts as a host of its own.
int mgn_compositor_hosts(mgn_compositor compositor);

// Merges one picture of each process; all of them have to call this. color and depth are this
// process's picture, rows of pixels without gaps, which may be null where the order leaves this
// process out. merged is what has come here: all pixels, a part of them, or none. Its memory is
// valid until the next call for this compositor.
//
// MGN_ERR_COMPOSITE: another process composites something else. MGN_ERR_CLOSED: one has ended.
// MGN_ERR_TIMEOUT: one has not come in time. After those three, close the compositor; connections
// to processes that did not answer are closed by then.
int mgn_composite(mgn_compositor compositor, const mgn_composition *composition, const void *color, const void *depth, mgn_merged *merged);

// Gives memory for this process's next picture: rows of pixels without gaps, with anything in
// them. The program draws there, all of it, and calls mgn_composite_drawn with the same
// composition. Other processes on its host read the picture there, so the library makes no copy
// for them. depth is set to null without depth. The memory is the program's until that call. Waits
// until the other processes have read an earlier picture that was there. Errors are those of
// mgn_composite.
int mgn_composite_draw(mgn_compositor compositor, const mgn_composition *composition, void **color, void **depth);

// Merges one picture of each process, as mgn_composite does. This process's is what was drawn in
// the memory that mgn_composite_draw has given. If covered is not null, only that rectangle was
// drawn: the picture shows nothing outside of it, whatever the memory holds there, and those
// pixels cost nothing. Some processes may call this, and others mgn_composite.
//
// MGN_ERR_ARGUMENT: nothing was drawn for this composition, or covered is not within the picture.
// Other errors are those of mgn_composite.
int mgn_composite_drawn(mgn_compositor compositor, const mgn_composition *composition, const mgn_rectangle *covered, mgn_merged *merged);

// Draws and composites a large picture tile by tile. All processes must call this with the same
// composition and the same tiles. composition describes the large picture. Its to matters only if
// tiles is null: the picture is then one tile, for that rank. The library calls draw with context
// for each tile, in every process that the order names, and then show in the rank that gets the
// tile. show may be null. Neither function may use this compositor, also not through another
// thread that it waits for, or throw a C++ exception.
//
// MGN_ERR_CANCELLED: draw or show returned a value other than 0. MGN_ERR_ARGUMENT: a tile is not
// within the picture or is for a rank that does not exist (nothing was drawn), or draw set covered
// to a rectangle that is not within the tile. If draw or show failed, or covered was wrong, the
// other processes get MGN_ERR_CLOSED, in this call or the next one, and every process must close
// the compositor. Other errors are those of mgn_composite.
int mgn_composite_tiles(mgn_compositor compositor, const mgn_composition *composition, const mgn_tile *tiles, uint32_t count, mgn_draw draw, mgn_show show, void *context);

// Closes a compositor. What it has merged is not valid any more.
int mgn_compositor_close(mgn_compositor compositor);

/* Where pictures go ----------------------------------------------------------------------------- */

// The first row in memory is the uppermost of the picture.
#define MGN_TOP_DOWN 0

// The first row in memory is the lowest of the picture, as glReadPixels gives it.
#define MGN_BOTTOM_UP 1

// A place where pictures go, such as a window or image files. mgn_finalize closes all of them.
typedef uint64_t mgn_outlet;

// A picture to be shown: rows of pixels without gaps. Alpha is ignored, so premultiplied colours
// are seen over black.
typedef struct {
    // In pixels; from 1 to 65500 each.
    uint32_t width;
    uint32_t height;
    // MGN_RGBA8. Other colours cannot be shown.
    int color;
    // MGN_TOP_DOWN or MGN_BOTTOM_UP.
    int direction;
    const void *pixels;
} mgn_picture;

// Opens an outlet that writes pictures to image files in a folder, which is made if it is missing:
// frame-000001.png and so on. format is png, or jpeg for frame-000001.jpg; null: png. Only each
// every-th picture is written: 1 for all of them. The numbers count all pictures.
//
// MGN_ERR_ARGUMENT: there is no such format, or every is 0. MGN_ERR_OUTLET: there is no such
// folder, and it cannot be made. Whether files can be written there shows with the first one.
int mgn_outlet_files(const char *folder, const char *format, uint64_t every, mgn_outlet *outlet);

// Opens an outlet that shows pictures in a window with a title. display is the X server, as :0;
// null: that of DISPLAY. The window opens with the first picture, and has the size of the last
// one. The user may close it: see mgn_outlet_is_closed.
//
// MGN_ERR_OUTLET: there is no such X server.
int mgn_outlet_window(const char *display, const char *title, mgn_outlet *outlet);

// Shows a picture. Its memory may be used again when this returns.
//
// MGN_ERR_ARGUMENT: such a picture cannot be shown; others still can. MGN_ERR_OUTLET: the outlet
// is out of order, for example because the disk is full or the X server has ended. It stays so:
// close it.
int mgn_outlet_show(mgn_outlet outlet, const mgn_picture *picture);

// Gives 1 if the user has closed the outlet's window, and 0 otherwise. That is no error: pictures
// for it are dropped. The window disappears with this call or the next picture, so a program that
// seldom shows one calls this now and then.
int mgn_outlet_is_closed(mgn_outlet outlet);

// From now on, the library shows in outlet each whole picture that this process gets by
// mgn_composite and mgn_composite_drawn. Of mgn_composite_tiles it shows the tiles that this
// process gets, after the last one, as one picture: the smallest rectangle around them, black
// where none is. direction is MGN_TOP_DOWN or MGN_BOTTOM_UP. A compositor has one outlet, and an
// outlet may have several compositors. With outlet 0, or after mgn_outlet_close, nothing is shown.
// If a picture was composited but cannot be shown, the functions above return MGN_ERR_OUTLET; what
// they give is valid, and the compositor stays usable.
int mgn_compositor_attach(mgn_compositor compositor, mgn_outlet outlet, int direction);

// Closes an outlet, and the window if it is one. Files stay.
int mgn_outlet_close(mgn_outlet outlet);

#ifdef __cplusplus
}
#endif

#endif
