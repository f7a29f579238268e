/* Processes composite until rank 2 dies, or stops: then all others get an error.
 *
 * usage: dying die|stop SCHEDULE */
#include "../examples/check.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE 64
#define VICTIM 2

static void work(int must_stop, const char *schedule)
{
    mgn_compositor compositor;
    CHECK(mgn_compositor_open(20000, &compositor));
    CHECK(mgn_compositor_close(compositor));
    CHECK(mgn_compositor_open(must_stop ? 3000 : 20000, &compositor));
    mgn_composition composition = {
        .width = SIZE,
        .height = SIZE,
        .schedule = strcmp(schedule, "-") ? schedule : NULL,
    };
    static unsigned char color[SIZE * SIZE][4];
    memset(color, 9, sizeof color);
    for (int frame = 0;; frame++) {
        if (mgn_rank() == VICTIM && frame == 5)
            raise(must_stop ? SIGSTOP : SIGKILL);
        mgn_merged merged;
        int result = mgn_composite(compositor, &composition, color, NULL, &merged);
        if (result < 0) {
            printf("%d: %s\n", result, mgn_last_error());
            break;
        }
    }
    CHECK(mgn_compositor_close(compositor));
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 1;
    int must_stop = !strcmp(argv[1], "stop");
    /* All processes but the victim hold this lock, shared, until they end. */
    int lock = open(argv[0], O_RDONLY | O_CLOEXEC);
    if (lock < 0 || (atoi(getenv("MGN_RANK")) != VICTIM && flock(lock, LOCK_SH)))
        return 1;
    /* The one that dies is a child, so that the test sees a process that ends well. */
    pid_t child = atoi(getenv("MGN_RANK")) == VICTIM ? fork() : 0;
    if (child > 0) {
        int status;
        if (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) {
            /* The victim may be killed only after all others have given up waiting for it. If it
             * died earlier, they would report it as lost and not as late. */
            for (int tries = 0; tries < 200 && flock(lock, LOCK_EX | LOCK_NB); tries++)
                usleep(100000);
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
        }
        return 0;
    }
    CHECK(mgn_init());
    work(must_stop, argv[2]);
    mgn_finalize();
    return 0;
}
