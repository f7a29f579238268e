/* Drawing to the front and back buffers at once, and reading each of them in between. */
#include "conform.h"

static void log_buffer(const char *what, GLenum buffer)
{
    GLubyte pixels[4 * 4];
    glReadBuffer(buffer);
    glReadPixels(SIZE / 2 - 2, SIZE / 2, 4, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    note_bytes(what, pixels, sizeof pixels);
    picture_of(what, buffer, SIZE, SIZE);
    errors(what);
}

static void draw(GLenum buffers, float red)
{
    glDrawBuffer(buffers);
    glClearColor(red, 0.5f, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    color_of((int)(red * 10));
    glRectf(-0.5f, -0.5f, 0.5f, 0.5f);
}

static void both(void)
{
    draw(GL_FRONT, 0);
    draw(GL_BACK, 0.2f);
    draw(GL_FRONT_AND_BACK, 0.4f);
    log_buffer("back", GL_BACK);
    log_buffer("front", GL_FRONT);
    /* Both buffers are drawn to again while the front buffer is read. */
    color_of(7);
    glRectf(-1, -1, 0, 0);
    log_buffer("front_again", GL_FRONT);
    log_buffer("back_again", GL_BACK_LEFT);
    draw(GL_BACK, 0.6f);
    log_buffer("back_alone", GL_BACK);
    log_buffer("front_left_alone", GL_FRONT_LEFT);
    draw(GL_LEFT, 0.8f);
    log_buffer("left_front", GL_FRONT_LEFT);
    log_buffer("left_back", GL_BACK_LEFT);
    draw(GL_FRONT, 0.9f);
    log_buffer("front_alone", GL_FRONT);
    log_buffer("back_left_alone", GL_BACK);
    glDrawBuffer(GL_BACK);
}

static void cleared(void)
{
    if (!need_version(3, 0))
        return;
    draw(GL_FRONT, 0);
    draw(GL_BACK, 0.2f);
    glDrawBuffer(GL_FRONT_AND_BACK);
    glClearBufferfv(GL_COLOR, 0, (const GLfloat[]){0.9f, 0.1f, 0.3f, 1});
    errors("glClearBufferfv");
    log_buffer("front", GL_FRONT);
    log_buffer("back", GL_BACK);
    glDrawBuffer(GL_BACK);
}

/* Copies from the front buffer. */
static void copied(void)
{
    draw(GL_FRONT_AND_BACK, 0.3f);
    glReadBuffer(GL_FRONT);
    color_of(4);
    glRectf(-1, 0, 1, 1);
    glRasterPos2f(-1, -1);
    glCopyPixels(0, SIZE / 2, SIZE / 2, SIZE / 2, GL_COLOR);
    errors("glCopyPixels");
    log_buffer("front", GL_FRONT);
    glDrawBuffer(GL_BACK);
    glReadBuffer(GL_BACK);
}

/* Draws to a part of both buffers. The other parts stay different. */
static void unequal(void)
{
    draw(GL_FRONT, 0);
    draw(GL_BACK, 0.6f);
    glDrawBuffer(GL_FRONT_AND_BACK);
    color_of(2);
    glRectf(-0.25f, -1, 0.25f, 1);
    log_buffer("back", GL_BACK);
    log_buffer("front", GL_FRONT);
    glDrawBuffer(GL_BACK);
}

CONFORM("front_and_back", COMPAT, {"both", both}, {"cleared", cleared}, {"copied", copied}, {"unequal", unequal})
