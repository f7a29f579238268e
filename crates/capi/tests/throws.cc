// A function of the program throws while the library calls it. The exception must not pass through
// the library, which would be left in the middle of a picture: the process ends.
#include <manganese.h>

#include <cstdio>
#include <stdexcept>

static int draw(void *, uint32_t, const mgn_rectangle *, void *, void *, mgn_rectangle *)
{
    throw std::runtime_error("no memory for the triangles");
}

int main()
{
    mgn_composition composition = {};
    composition.width = composition.height = 8;
    composition.color = MGN_RGBA8;
    composition.depth = MGN_DEPTH_NONE;
    composition.operation = MGN_OVER;
    mgn_compositor compositor;
    if (mgn_init() != MGN_OK || mgn_compositor_open(1000, &compositor) != MGN_OK) {
        std::fprintf(stderr, "%s\n", mgn_last_error());
        return 1;
    }
    try {
        mgn_composite_tiles(compositor, &composition, nullptr, 0, draw, nullptr, nullptr);
    } catch (const std::exception &) {
        std::puts("the exception came back");
    }
    return 0;
}
