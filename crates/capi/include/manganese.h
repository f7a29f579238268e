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

/* Errors ---------------------------------------------------------------------------------------- */

#define MGN_OK 0

typedef enum {
    // an argument is invalid
    MGN_ERR_ARGUMENT = -1,
    // no such connection, request, message, reservation, memory, broadcast, compositor, outlet or
    // barrier
    MGN_ERR_HANDLE = -2,
    // mgn_init has not been called, or has been called twice; or mgn_finalize has been called; or
    // a draw or show function uses the compositor that is calling it; or calls for a barrier are
    // in the wrong order
    MGN_ERR_STATE = -3,
    // the timeout has expired
    MGN_ERR_TIMEOUT = -4,
    // the other process has closed the connection or ended; or the object was closed in the
    // meantime
    MGN_ERR_CLOSED = -5,
    // the message is longer than the memory for it; the part that fits was received
    MGN_ERR_TRUNCATED = -6,
    // the operation was cancelled
    MGN_ERR_CANCELLED = -7,
    // the receive cannot complete: the connection is full of messages that the program does not
    // receive, and the requested message is behind them
    MGN_ERR_STARVED = -8,
    // the description of the job is invalid, or its name is in use
    MGN_ERR_JOB = -9,
    // the other process refused the connection: wrong secret, job or release
    MGN_ERR_REFUSED = -10,
    // a system call failed
    MGN_ERR_SYSTEM = -11,
    // a bug in this library
    MGN_ERR_INTERNAL = -12,
    // the other process does not offer this memory, or offers less than the request covers
    MGN_ERR_OFFER = -13,
    // the processes disagree about what they composite, or about a barrier
    MGN_ERR_COMPOSITE = -14,
    // the outlet cannot show or save pictures
    MGN_ERR_OUTLET = -15,
} mgn_err;

// Describes an error code in a few words. Never null.
const char *mgn_strerror(int error);

// Describes the last error in this thread in detail. The text is valid until the next call in this
// thread fails. Never null.
const char *mgn_last_error(void);

/* The job --------------------------------------------------------------------------------------- */

// Joins the job that the environment describes: by MGN_RANK with MGN_HOSTFILE or MGN_SIZE, the
// mpiexec of MPICH or Open MPI, or Slurm. Without any of these, the process is a job of one.
int mgn_init(void);

// Joins a job that the program describes: this process is number rank, counted from 0, of size
// processes. Rank r is on hosts[r]; if hosts is null, all ranks are on this host.
int mgn_init_as(const char *job, uint32_t rank, uint32_t size, const char *const *hosts);

// Leaves the job. Release all messages first. Messages that have been sent are still delivered.
// Calls that wait in other threads return MGN_ERR_CLOSED. After this, mgn_init may be called
// again.
int mgn_finalize(void);

// Returns the rank of this process: its number in the job, from 0.
int mgn_rank(void);

// Returns the number of processes in the job.
int mgn_size(void);

// Writes the name of a rank's host to name, shortened to room bytes including the final zero byte.
// Returns the length of the whole name.
int mgn_host(uint32_t rank, char *name, size_t room);

// Writes the network interfaces at which this process accepts connections from other hosts, such
// as "eth0 10.0.0.1, ib0 10.1.0.1". The text is shortened like that of mgn_host. Returns the
// length of the whole text.
int mgn_interfaces(char *names, size_t room);

/* Connections ----------------------------------------------------------------------------------- */

// A connection to another process, or to this one. A number is never used for a second connection.
typedef uint64_t mgn_conn;

// In place of a connection: receives a message from any process.
#define MGN_ANY 0

// Sets conn to the connection to a rank. There is one connection between two processes, which the
// first call in either of them creates. Waits for the other process to start. host is null, or the
// name of the host on which the rank must be.
int mgn_open(const char *host, uint32_t rank, int timeout, mgn_conn *conn);

// Returns the rank at the other end of a connection.
int mgn_rank_of(mgn_conn conn);

// Closes a connection at both ends. Calls and requests that wait for it end with MGN_ERR_CLOSED in
// both processes.
int mgn_close(mgn_conn conn);

/* Blocking messages, with tag 0 ----------------------------------------------------------------- */

// Describes a message.
typedef struct {
    mgn_conn conn;
    uint64_t tag;
    // The length of the whole message in bytes.
    uint64_t length;
} mgn_status;

// Sends a message, and returns when the receiver has taken it.
int mgn_send(mgn_conn conn, const void *data, size_t length);

// Waits for a message. Returns 1 if one can be received, and 0 if none came in time.
int mgn_poll(mgn_conn conn, int timeout);

// Waits for the next message, and sets status to its length and connection. The message can still
// be received.
int mgn_peek(mgn_conn conn, mgn_status *status);

// Waits for the next message, and receives it. status may be null.
int mgn_recv(mgn_conn conn, void *data, size_t room, mgn_status *status);

/* Nonblocking operations ------------------------------------------------------------------------ */

// A flag for mgn_isend: the request ends when the receiver has taken the message. Without it, the
// request ends as soon as the memory may be used again.
#define MGN_SYNC 1

// A flag for mgn_isend: the message may overtake others.
#define MGN_UNORDERED 2

// A request: an operation that has begun. 0 stands for a request that has ended; it may be tested
// and waited for.
typedef uint64_t mgn_request;

// Begins to send one message that consists of count pieces of memory. The program must not change
// them until the request has ended. flags is 0, MGN_SYNC, MGN_UNORDERED, or both combined by |.
int mgn_isend(mgn_conn conn, uint64_t tag, const struct iovec *pieces, size_t count, int flags, mgn_request *request);

// Begins to receive a message from conn (or MGN_ANY) into pieces of memory. The program must not
// use them until the request has ended. The request takes the first message whose tag equals tag
// in all bits that are not set in ignore. If ignore is 0, only this tag matches; if it is
// UINT64_MAX, every tag matches.
int mgn_irecv(mgn_conn conn, uint64_t tag, uint64_t ignore, const struct iovec *pieces, size_t count, mgn_request *request);

// Tests a request. Returns 1 if it has ended, and sets it to 0; returns 0 if it has not ended. If
// the request failed, returns its error. status may be null.
int mgn_test(mgn_request *request, mgn_status *status);

// Waits until a request has ended, and sets it to 0. If the request failed, returns its error.
// After MGN_ERR_TIMEOUT the request continues. status may be null.
int mgn_wait(mgn_request *request, int timeout, mgn_status *status);

// Waits until one of several requests has ended, sets it to 0, and sets index to its place in the
// array. If the request failed, returns its error. Requests that are 0 are ignored; if all are 0,
// index is set to count. After MGN_ERR_TIMEOUT all requests continue.
int mgn_waitany(mgn_request *requests, size_t count, int timeout, size_t *index, mgn_status *status);

// Cancels a request. Returns 1 if the request has not begun its work and ends with
// MGN_ERR_CANCELLED; returns 0 if it ends as if it had not been cancelled. In both cases, wait for
// it.
int mgn_cancel(mgn_request request);

// Waits for a message that mgn_irecv with the same arguments would take, and describes it in
// status. The message can still be received.
int mgn_probe(mgn_conn conn, uint64_t tag, uint64_t ignore, int timeout, mgn_status *status);

/* Messages in place, without a copy ------------------------------------------------------------- */

// A message that the program reads in place.
typedef uint64_t mgn_message;

// Memory into which the program writes a message.
typedef uint64_t mgn_reservation;

// Waits for a message that mgn_irecv with the same arguments would take, and gives the program its
// memory to read. Nothing is copied if the sender could put the message into shared memory. The
// memory is valid until mgn_release; until then, the sender cannot use it for other messages. In
// shared memory, a hostile sender could change the message while the program reads it. status may
// be null.
int mgn_take(mgn_conn conn, uint64_t tag, uint64_t ignore, int timeout, const void **data, mgn_status *status, mgn_message *message);

// Releases the memory of a message, which the program must not read any more.
int mgn_release(mgn_message message);

// Gives the program memory, aligned to 64 bytes, for a message of up to length bytes. Over shared
// memory, the receiver reads the message in this memory, without a copy. Never waits.
int mgn_reserve(mgn_conn conn, size_t length, void **data, mgn_reservation *reservation);

// Begins to send the first length bytes of a reservation. From then on, the program must not use
// the memory. request may be null, because the program need not wait for it. After
// MGN_ERR_ARGUMENT the reservation is unchanged; after any other error it is gone.
int mgn_commit(mgn_reservation reservation, size_t length, uint64_t tag, int flags, mgn_request *request);

// Gives up a reservation. Nothing is sent.
int mgn_discard(mgn_reservation reservation);

/* Active messages ------------------------------------------------------------------------------- */

// A function of the program that handles active messages. The library calls it with each message
// for its number, from any thread, but never from two threads at once. data is valid during the
// call. The function may send messages, but should not wait. A C++ exception that leaves it ends
// the process.
typedef void (*mgn_handler)(void *context, mgn_conn from, uint64_t tag, const void *data, size_t length);

// Sets the function that is called with messages for handler number. Messages for a number without
// a handler are dropped.
int mgn_set_handler(uint16_t number, mgn_handler handler, void *context);

// Sends a message like mgn_isend. The other process does not receive it; instead, the library
// calls its handler with this number.
int mgn_isend_active(mgn_conn conn, uint16_t number, uint64_t tag, const struct iovec *pieces, size_t count, int flags, mgn_request *request);

/* One-sided access to memory -------------------------------------------------------------------- */

// The key to offered memory. Any process that has it can write to this memory and read it. It
// cannot be guessed. Send it to the processes that need it.
typedef struct {
    uint8_t bytes[16];
} mgn_key;

// Offers memory to other processes, and sets key to its key, which the program sends to them. They
// can write and read at any time, without a call by this process, until mgn_withdraw. The memory
// must stay valid until then. The program should read it only when it knows that no process is
// writing, for example from a message.
int mgn_offer(void *memory, size_t length, mgn_key *key);

// Ends an offer. Waits for accesses that have begun.
int mgn_withdraw(const mgn_key *key);

// Begins to write pieces of memory, one after the other, to memory that the other process offers,
// from byte offset on. The program must not change the pieces until the request has ended; by
// then, the bytes have been written. A put is not ordered with messages or with other puts and
// gets: the order of two at the same time is undefined.
int mgn_put(mgn_conn conn, const mgn_key *key, uint64_t offset, const struct iovec *pieces, size_t count, mgn_request *request);

// Begins to read from memory that the other process offers, from byte offset on, as many bytes as
// the pieces hold. Like a put, a get is not ordered.
int mgn_get(mgn_conn conn, const mgn_key *key, uint64_t offset, const struct iovec *pieces, size_t count, mgn_request *request);

/* Broadcast: one writer, many readers ----------------------------------------------------------- */

// One end of a broadcast connection. Every message of its writer goes to all readers. Readers on
// one host share one copy.
typedef uint64_t mgn_broadcast;

// Opens a broadcast connection for writing, under a number that the program chooses, and waits
// until the given number of readers have joined. Readers that join later get the messages that are
// sent from then on. longest is the largest length of a message in bytes, at most 16 MiB. After
// MGN_ERR_TIMEOUT the connection is not open.
int mgn_broadcast_open(uint32_t number, size_t longest, uint32_t readers, int timeout, mgn_broadcast *broadcast);

// Joins, as a reader, the broadcast connection that another rank opens under this number. Waits
// until it is open.
int mgn_broadcast_join(uint32_t rank, uint32_t number, int timeout, mgn_broadcast *broadcast);

// Sends a message to all readers that have joined. Its memory may be used again when this returns.
// Waits while a reader is too far behind to take more messages. Readers that have ended are
// skipped.
int mgn_broadcast_send(mgn_broadcast broadcast, const void *data, size_t length);

// For the writer: returns the number of readers, except those that are known to have ended.
int mgn_broadcast_readers(mgn_broadcast broadcast);

// For a reader: waits for the next message, and gives the program its memory to read, until
// mgn_release. MGN_ERR_CLOSED means that no more messages will come.
int mgn_broadcast_take(mgn_broadcast broadcast, int timeout, const void **data, size_t *length, mgn_message *message);

// Closes one end. If the writer closes its end, readers get the messages that have been sent, and
// then MGN_ERR_CLOSED. Threads that wait at this end in mgn_broadcast_send or mgn_broadcast_take
// get MGN_ERR_CLOSED, too.
int mgn_broadcast_close(mgn_broadcast broadcast);

/* Compositing: many pictures become one --------------------------------------------------------- */

// Colours of 4 bytes: red, green, blue and alpha.
#define MGN_RGBA8 0

// Colours of 4 half-precision floats.
#define MGN_RGBA16F 1

// Colours of 4 floats.
#define MGN_RGBA32F 2

// Pictures without depth.
#define MGN_DEPTH_NONE 0

// Depths of 32 bits, as glReadPixels returns them for GL_UNSIGNED_INT.
#define MGN_DEPTH_UINT 1

// Depths of one float. A NaN is farther than everything else.
#define MGN_DEPTH_FLOAT 2

// Blends colours that are premultiplied with their alpha. The first picture of the order is in
// front.
#define MGN_OVER 0

// Takes the pixel with the smallest depth. If depths are equal, takes the pixel of the picture
// that is earlier in the order.
#define MGN_NEAREST 1

// Takes the largest value of each channel.
#define MGN_MAX 2

// Takes the smallest value of each channel.
#define MGN_MIN 3

// Adds the values of each channel. Sums of bytes stop at 255.
#define MGN_ADD 4

// A compositor: a group of all processes of the job that composite pictures together.
typedef uint64_t mgn_compositor;

// Describes what is composited. All processes must pass the same values.
typedef struct {
    // The size of the picture in pixels.
    uint32_t width;
    uint32_t height;
    // MGN_RGBA8, MGN_RGBA16F or MGN_RGBA32F.
    int color;
    // MGN_DEPTH_NONE, MGN_DEPTH_UINT or MGN_DEPTH_FLOAT.
    int depth;
    // MGN_OVER, MGN_NEAREST, MGN_MAX, MGN_MIN or MGN_ADD.
    int operation;
    // The rank that gets the merged picture. If it is negative, each process keeps the pixels that
    // it has merged.
    int to;
    // The schedule, which determines which processes exchange which pixels: direct, binary-swap,
    // 2-3-swap, or radix-K or tree-K with a number K, such as radix-8. If it is null, the library
    // chooses. Processes on one host then read each other's pictures in place; in a job on several
    // hosts, only neighbours in the order do so, and only if to is a rank.
    const char *schedule;
    // The ranks whose pictures are merged, front to back. Ranks that are left out contribute
    // nothing and cost nothing. If it is null, all ranks are merged in the order of their numbers.
    const uint32_t *order;
    uint32_t order_length;
} mgn_composition;

// Merged pixels. pixels is their number, and first is the index of the first one, counted row by
// row from 0.
typedef struct {
    const void *color;
    // Null without depth.
    const void *depth;
    uint64_t first;
    uint64_t pixels;
} mgn_merged;

// A rectangle of pixels in a picture. column and row are those of its first pixel; row 0 is the
// first row of the picture in memory.
typedef struct {
    uint32_t column;
    uint32_t row;
    uint32_t width;
    uint32_t height;
} mgn_rectangle;

// A part of a large picture, such as one screen of a wall.
typedef struct {
    // The tile's place in the large picture. Tiles may overlap.
    mgn_rectangle place;
    // The rank that gets the merged tile.
    uint32_t to;
} mgn_tile;

// A function of the program that draws this process's share of a tile. tile is the index in the
// array of tiles, and place is the tile's place in the large picture. color and depth (null
// without depth) are memory for the pixels of the tile: rows without gaps, with undefined
// contents. On entry, covered is the whole tile; a function that draws less sets it to the
// rectangle that it has drawn, counted from the tile's first pixel. The function is also called
// for tiles of width or height 0. It returns 0, or another number if it cannot draw.
typedef int (*mgn_draw)(void *context, uint32_t tile, const mgn_rectangle *place, void *color, void *depth, mgn_rectangle *covered);

// A function of the program that gets a merged tile. The pixels are valid during the call. It
// returns 0, or another number if it fails.
typedef int (*mgn_show)(void *context, uint32_t tile, const mgn_rectangle *place, const mgn_merged *merged);

// Creates a compositor of all processes of the job. All of them must call this. It waits for the
// others for up to timeout milliseconds. The same timeout applies to each later call with this
// compositor. A process that opens several compositors must open them in the same order as the
// others do. While a compositor is open, do not receive messages with any tag (ignore UINT64_MAX):
// such a receive could take a message of the compositor.
//
// MGN_ERR_COMPOSITE: another process runs another release. Other errors are those of
// mgn_composite.
int mgn_compositor_open(int timeout, mgn_compositor *compositor);

// Returns the number of hosts on which the processes of a compositor run. Processes that share
// memory are on one host. A process that cannot share memory counts as a host of its own.
int mgn_compositor_hosts(mgn_compositor compositor);

// Merges one picture of each process. All processes must call this. color and depth are the
// picture of this process: rows of pixels without gaps. They may be null if the order leaves this
// process out. merged is set to the pixels that this process gets: all, a part, or none. Their
// memory is valid until the next call with this compositor.
//
// MGN_ERR_COMPOSITE: another process composites something else. MGN_ERR_CLOSED: a process has
// ended. MGN_ERR_TIMEOUT: a process has not called this in time. After any of these three errors,
// close the compositor. By then, the connections to processes that did not answer are closed.
int mgn_composite(mgn_compositor compositor, const mgn_composition *composition, const void *color, const void *depth, mgn_merged *merged);

// Gives the program memory for the next picture of this process: rows of pixels without gaps, with
// undefined contents. The program draws all pixels there, and then calls mgn_composite_drawn with
// the same composition. Other processes on the same host read the picture in this memory, so the
// library makes no copy for them. depth is set to null without depth. After mgn_composite_drawn,
// the program must not use the memory. mgn_composite_draw waits until others have read an earlier
// picture in the same memory. Errors are those of mgn_composite.
int mgn_composite_draw(mgn_compositor compositor, const mgn_composition *composition, void **color, void **depth);

// Merges one picture of each process, as mgn_composite does. The picture of this process is the
// one that was drawn in the memory from mgn_composite_draw. If covered is not null, the program
// has drawn only this rectangle: outside of it, the picture is empty, whatever the memory
// contains, and costs nothing. Some processes may call this while others call mgn_composite.
//
// MGN_ERR_ARGUMENT: nothing was drawn for this composition, or covered is not within the picture.
// Other errors are those of mgn_composite.
int mgn_composite_drawn(mgn_compositor compositor, const mgn_composition *composition, const mgn_rectangle *covered, mgn_merged *merged);

// Draws and composites a large picture tile by tile. All processes must call this with the same
// composition and the same tiles. composition describes the large picture. For each tile, the
// library calls draw in every process that the order names, and then show in the rank that gets
// the tile. It passes context to both. show may be null. If tiles is null, the whole picture is
// one tile for the rank composition->to; otherwise that field has no effect. draw and show must
// not use this compositor, not even through another thread that they wait for, and must not throw
// C++ exceptions: an exception that leaves them ends the process.
//
// MGN_ERR_CANCELLED: draw or show returned a value other than 0. MGN_ERR_ARGUMENT: a tile is not
// within the picture or is for a rank that does not exist (nothing was drawn), or draw set covered
// to a rectangle that is not within the tile. If draw or show failed, or covered was wrong, the
// other processes get MGN_ERR_CLOSED, in this call or the next one, and every process must close
// the compositor. Other errors are those of mgn_composite.
int mgn_composite_tiles(mgn_compositor compositor, const mgn_composition *composition, const mgn_tile *tiles, uint32_t count, mgn_draw draw, mgn_show show, void *context);

// Closes a compositor. The pixels that it has merged become invalid.
int mgn_compositor_close(mgn_compositor compositor);

/* Outlets: windows, image files and viewers for pictures ---------------------------------------- */

// The first row in memory is the uppermost of the picture.
#define MGN_TOP_DOWN 0

// The first row in memory is the lowest of the picture, as glReadPixels gives it.
#define MGN_BOTTOM_UP 1

// An outlet: a destination for pictures, such as a window, image files or a viewer. mgn_finalize
// closes all outlets.
typedef uint64_t mgn_outlet;

// A picture to be shown: rows of pixels without gaps. Alpha is ignored, so premultiplied colours
// appear on black.
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

// Opens an outlet that writes pictures to image files in a folder, which is created if it is
// missing: frame-000001.png and so on. format is png, or jpeg for frame-000001.jpg; null means
// png. If every is 1, all pictures are written; if it is N, only those whose number is a multiple
// of N. The numbers count all pictures, unless mgn_outlet_number changes them.
//
// MGN_ERR_ARGUMENT: there is no such format, or every is 0. MGN_ERR_OUTLET: the folder does not
// exist and cannot be created. If files cannot be written in it, the first picture fails.
int mgn_outlet_files(const char *folder, const char *format, uint64_t every, mgn_outlet *outlet);

// Opens an outlet that shows pictures in a window with a title. display is the X server, such as
// :0; null means the one that DISPLAY names. The window opens with the first picture, and has the
// size of the latest one. The user may close it: see mgn_outlet_is_closed.
//
// MGN_ERR_OUTLET: there is no such X server.
int mgn_outlet_window(const char *display, const char *title, mgn_outlet *outlet);

// Opens an outlet that sends pictures to a viewer (mgn viewer), which shows them in browsers as a
// tile of its wall. The first tile is 0. viewer is the address of mgn viewer --feeds; null means
// the default, unix:@manganese-viewer. A tcp: or tls: address needs token_file, the file of a
// token with the role server; null means the one that MGN_TOKEN_FILE names.
//
// The viewer need not run yet, and may be restarted. It gets the newest picture while a page shows
// the tile, so some pictures may never be seen. Processes that show tiles of one wall must show
// the same number of pictures. Width and height are at most 16384 pixels.
//
// MGN_ERR_ARGUMENT: the address is invalid, or a wall cannot have this number of tiles.
// MGN_ERR_OUTLET: no token is named, or it cannot be read. If the viewer refuses the outlet,
// later pictures fail.
int mgn_outlet_viewer(const char *viewer, const char *token_file, uint32_t tile, mgn_outlet *outlet);

// Numbers the next pictures of an outlet first, first + step, first + 2 * step and so on. So the
// processes of a job can write its pictures in turn, each encoding one while the others draw: with
// N processes, process r calls mgn_outlet_number(outlet, r + 1, N), and composition number f,
// counted from 0, goes to process f % N.
//
// MGN_ERR_ARGUMENT: first or step is 0, or first is not larger than the numbers so far.
int mgn_outlet_number(mgn_outlet outlet, uint64_t first, uint64_t step);

// Shows a picture. Its memory may be used again when this returns.
//
// MGN_ERR_ARGUMENT: this picture cannot be shown, but others can. MGN_ERR_OUTLET: the outlet has
// failed, for example because the disk is full or the X server has ended. It cannot be used any
// more: close it.
int mgn_outlet_show(mgn_outlet outlet, const mgn_picture *picture);

// Returns 1 if the user has closed the outlet's window, and 0 otherwise. Pictures for a closed
// window are dropped without an error. Also returns 1 if the X server has ended; further pictures
// then cause MGN_ERR_OUTLET. A closed window disappears at this call or at the next picture, so a
// program that shows pictures rarely should call this from time to time.
int mgn_outlet_is_closed(mgn_outlet outlet);

// From now on, the library shows in outlet each whole picture that this process gets by
// mgn_composite and mgn_composite_drawn. After mgn_composite_tiles, it shows all tiles that this
// process gets as one picture: the smallest rectangle around them, black where there is no tile.
// direction is MGN_TOP_DOWN or MGN_BOTTOM_UP. A compositor has one outlet, and an outlet may have
// several compositors. With outlet 0, or after mgn_outlet_close, nothing is shown. If a picture
// was composited but cannot be shown, the functions above return MGN_ERR_OUTLET; their results are
// valid, and the compositor stays usable.
int mgn_compositor_attach(mgn_compositor compositor, mgn_outlet outlet, int direction);

// Closes an outlet, and its window if it has one. Files remain.
int mgn_outlet_close(mgn_outlet outlet);

/* The order from front to back ------------------------------------------------------------------ */

// An axis-aligned box that contains data of a rank. A rank may have several.
typedef struct {
    uint32_t rank;
    // The corner with the smallest coordinates, and the corner with the largest. Infinity is
    // allowed.
    double min[3];
    double max[3];
} mgn_brick;

// Computes the ranks of bricks from front to back, for the order of an mgn_composition that
// blends. eye is the position of the eye in the coordinates of the bricks or, with is_direction,
// the direction of a parallel projection into the scene. order has space for one number for each
// brick, and order_length is set to the number of ranks. Ranks without bricks are left out,
// because they have nothing to show. If there are no bricks at all, do not composite: an order
// that is null means all ranks. If several ranks can come next, the lowest is chosen. Returns
// MGN_ERR_ARGUMENT if the coordinates are not those of boxes and an eye. Also returns it if the
// bricks have no such order, because bricks of different ranks overlap or hide each other in a
// cycle; mgn_last_error names them. Needs no job: call it before or after mgn_init.
int mgn_front_to_back(const double *eye, int is_direction, const mgn_brick *bricks, size_t count, uint32_t *order, uint32_t *order_length);

/* Barriers -------------------------------------------------------------------------------------- */

// The bits that any member has set in its number.
#define MGN_COMBINE_ANY 0

// The bits that all members have set.
#define MGN_COMBINE_ALL 1

// The smallest number.
#define MGN_COMBINE_MIN 2

// The largest number.
#define MGN_COMBINE_MAX 3

// Describes a barrier. All its members must pass the same values, except interface. If all fields
// are zero, the members are all processes of the job.
typedef struct {
    // How members tell each other that they have arrived: shm, star, tree, tree-N with N children
    // for each member, dissemination, hierarchical, udp, wired, or auto. Null means auto: shm if
    // all members are on one host, dissemination if each is on a host of its own, and otherwise
    // hierarchical.
    const char *kind;
    // How the members' numbers are combined: MGN_COMBINE_ANY, _ALL, _MIN or _MAX. A wired barrier
    // carries no numbers: it ignores this, and the combined number is 0.
    int combine;
    // At most 65535. No two barriers of a job may have the same number, even one after the other.
    uint32_t number;
    // The ranks of the members, in any order. Null means all ranks of the job.
    const uint32_t *ranks;
    uint32_t rank_count;
    // For udp: the network interface for the datagrams. Null means the first one of the job.
    // For wired: the lines, such as gpiochip0:17,27,22 or parport0.
    const char *interface;
} mgn_barrier_options;

// A barrier of processes of the job.
typedef uint64_t mgn_barrier;

// Opens a barrier. All its members must call this. It waits for the others for up to timeout
// milliseconds. options may be null, which means that all fields are zero. While a barrier is
// open, do not receive messages with any tag (ignore UINT64_MAX): such a receive could take a
// message of the barrier.
//
// MGN_ERR_TIMEOUT: a member has not called this in time. MGN_ERR_CLOSED: a member has ended, or
// has given up. Later attempts can fail, too, until those of all members overlap.
// MGN_ERR_ARGUMENT: an option is invalid, or this process has used the number before.
// MGN_ERR_COMPOSITE: another member passes other options, or runs another release.
// MGN_ERR_SYSTEM: a system call failed, or the lines of a wired barrier cannot be opened.
int mgn_barrier_open(const mgn_barrier_options *options, int timeout, mgn_barrier *barrier);

// Joins a barrier that other processes have open. The ranks in options are members to ask; at
// least one of them must stay until this process is admitted. Waits for this for up to timeout
// milliseconds. From then on, the others wait for this process, too. kind is that of the barrier,
// or null; it must be star, tree, tree-N or dissemination. A process that was a member before
// cannot join again.
//
// MGN_ERR_TIMEOUT: no member has answered, or the members have not agreed in time. MGN_ERR_CLOSED:
// the members that this process asks have ended. MGN_ERR_ARGUMENT: an option is invalid; no
// process can join a barrier of this kind; this process has used the number before; or ranks is
// empty, or contains this process. MGN_ERR_COMPOSITE: the members have passed other options, or
// run another release.
int mgn_barrier_join(const mgn_barrier_options *options, int timeout, mgn_barrier *barrier);

// Announces arrival and passes a number, without waiting. The process may work before it calls
// mgn_barrier_wait; the other members learn of the arrival in the meantime.
//
// MGN_ERR_STATE: this process has arrived already, or has left. MGN_ERR_CLOSED: the others believe
// that this process is lost, and go on without it. If the lines of a wired barrier cannot be used,
// mgn_barrier_wait says so.
int mgn_barrier_arrive(mgn_barrier barrier, uint64_t number);

// Waits until all members have arrived, for up to timeout milliseconds. If combined is not null,
// it is set to their combined numbers.
//
// MGN_ERR_CLOSED: members were lost. This pass fails for all others, and the next pass is without
// the lost members; mgn_barrier_lost returns their ranks. If the others go on without this
// process, mgn_barrier_arrive then returns MGN_ERR_CLOSED, too. MGN_ERR_TIMEOUT: call this again
// to wait for longer; mgn_last_error names members for which this process waits, which may have
// arrived and wait for others themselves. MGN_ERR_STATE: this process has not arrived.
// MGN_ERR_SYSTEM: the lines of a wired barrier cannot be used.
int mgn_barrier_wait(mgn_barrier barrier, int timeout, uint64_t *combined);

// Arrives and waits. A process that has arrived already only waits. Its errors are those of
// mgn_barrier_wait.
int mgn_barrier_pass(mgn_barrier barrier, uint64_t number, int timeout, uint64_t *combined);

// Stores the ranks of the members that this process knows, but at most room ranks. Returns the
// number of members.
int mgn_barrier_members(mgn_barrier barrier, uint32_t *ranks, uint32_t room);

// Stores the ranks of the members that were lost in the latest failed pass, but at most room
// ranks. Returns the number of these members.
int mgn_barrier_lost(mgn_barrier barrier, uint32_t *ranks, uint32_t room);

// Leaves the barrier: the others go on without this process, and no pass fails. Waits up to
// timeout milliseconds for them to agree, and without limit if timeout is negative. They agree
// within some milliseconds unless one of them hangs. After this, close the barrier.
//
// MGN_ERR_STATE: this process has arrived, and must first call mgn_barrier_wait. MGN_ERR_TIMEOUT:
// the others have not agreed in time; call this again to wait for longer. MGN_ERR_CLOSED: the
// others go on without this process, or another thread has closed the barrier.
int mgn_barrier_leave(mgn_barrier barrier, int timeout);

// Closes a barrier. If this process has not left it, it is lost to the others. A thread that waits
// at the barrier gets MGN_ERR_CLOSED.
int mgn_barrier_close(mgn_barrier barrier);

#ifdef __cplusplus
}
#endif

#endif
