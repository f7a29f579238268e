/* The part of IceT's interface that the programs here use, for machines without IceT's headers. */

#pragma once

#include <stdlib.h>

typedef unsigned IceTEnum;
typedef int IceTInt;
typedef int IceTSizeType;
typedef float IceTFloat;
typedef double IceTDouble;
typedef unsigned char IceTUByte;
typedef unsigned char IceTBoolean;
typedef struct IceTContextStruct *IceTContext;
typedef struct IceTCommunicatorStruct *IceTCommunicator;
typedef struct { void *opaque_internals; } IceTImage;

/* Only these functions are called. */
struct IceTCommunicatorStruct {
    IceTCommunicator (*Duplicate)(IceTCommunicator);
    void (*Destroy)(IceTCommunicator);
    void *not_called[7];
    void (*Allgather)(IceTCommunicator, const void *, int, IceTEnum, void *);
    void *not_called_either[5];
    int (*Comm_size)(IceTCommunicator);
    int (*Comm_rank)(IceTCommunicator);
    void *data;
};

#define ICET_BYTE 0x8001
#define ICET_INT 0x8003
#define ICET_FLOAT 0x8004
#define ICET_POINTER 0x8008
#define ICET_VOID 0x800F
#define ICET_IMAGE_COLOR_NONE 0xC000
#define ICET_IMAGE_COLOR_RGBA_UBYTE 0xC001
#define ICET_IMAGE_COLOR_RGBA_FLOAT 0xC002
#define ICET_IMAGE_COLOR_RGB_FLOAT 0xC003
#define ICET_IMAGE_DEPTH_NONE 0xD000
#define ICET_IMAGE_DEPTH_FLOAT 0xD001
#define ICET_STRATEGY_DIRECT 0x6001
#define ICET_STRATEGY_SEQUENTIAL 0x6002
#define ICET_SINGLE_IMAGE_STRATEGY_AUTOMATIC 0x7001
#define ICET_COMPOSITE_MODE_Z_BUFFER 0x0301
#define ICET_COMPOSITE_MODE_BLEND 0x0302
#define ICET_DIAG_OFF 0x0000
#define ICET_DIAG_WARNINGS 0x0003
#define ICET_DIAG_ALL_NODES 0x0100
#define ICET_RANK 0x0002
#define ICET_NUM_PROCESSES 0x0003
#define ICET_BACKGROUND_COLOR 0x0005
#define ICET_NUM_TILES 0x0010
#define ICET_GLOBAL_VIEWPORT 0x0012
#define ICET_TILE_DISPLAYED 0x001B
#define ICET_DRAW_FUNCTION 0x0060
#define ICET_VALID_PIXELS_TILE 0x0098
#define ICET_VALID_PIXELS_OFFSET 0x0099
#define ICET_VALID_PIXELS_NUM 0x009A
#define ICET_RENDER_TIME 0x00C1
#define ICET_BLEND_TIME 0x00C6
#define ICET_COMPOSITE_TIME 0x00C7
#define ICET_TOTAL_DRAW_TIME 0x00C9
#define ICET_FLOATING_VIEWPORT 0x0141
#define ICET_ORDERED_COMPOSITE 0x0142
#define ICET_CORRECT_COLORED_BACKGROUND 0x0143
#define ICET_COMPOSITE_ONE_BUFFER 0x0144
#define ICET_INTERLACE_IMAGES 0x0145
#define ICET_COLLECT_IMAGES 0x0146
#define ICET_RENDER_EMPTY_IMAGES 0x0147
#define ICET_NO_ERROR 0x00000000u
#define ICET_SANITY_CHECK_FAIL 0xFFFFFFFFu
#define ICET_INVALID_ENUM 0xFFFFFFFEu
#define ICET_BAD_CAST 0xFFFFFFFDu
#define ICET_INVALID_OPERATION 0xFFFFFFFBu
#define ICET_INVALID_VALUE 0xFFFFFFFAu

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*IceTDrawCallbackType)(const IceTDouble *, const IceTDouble *, const IceTFloat *, const IceTInt *, IceTImage);

IceTContext icetCreateContext(IceTCommunicator);
void icetDestroyContext(IceTContext);
IceTContext icetGetContext(void);
void icetSetContext(IceTContext);
void icetCopyState(IceTContext, IceTContext);
void icetDiagnostics(IceTEnum);
IceTEnum icetGetError(void);
void icetResetTiles(void);
int icetAddTile(IceTInt, IceTInt, IceTSizeType, IceTSizeType, int);
void icetPhysicalRenderSize(IceTInt, IceTInt);
void icetStrategy(IceTEnum);
const char *icetGetStrategyName(void);
void icetSingleImageStrategy(IceTEnum);
void icetSetColorFormat(IceTEnum);
void icetSetDepthFormat(IceTEnum);
void icetCompositeMode(IceTEnum);
void icetCompositeOrder(const IceTInt *);
void icetDataReplicationGroup(IceTInt, const IceTInt *);
void icetDataReplicationGroupColor(IceTInt);
void icetBoundingBoxd(IceTDouble, IceTDouble, IceTDouble, IceTDouble, IceTDouble, IceTDouble);
void icetBoundingVertices(IceTInt, IceTEnum, IceTSizeType, IceTSizeType, const void *);
void icetEnable(IceTEnum);
void icetDisable(IceTEnum);
IceTBoolean icetIsEnabled(IceTEnum);
void icetGetDoublev(IceTEnum, IceTDouble *);
void icetGetFloatv(IceTEnum, IceTFloat *);
void icetGetIntegerv(IceTEnum, IceTInt *);
void icetGetBooleanv(IceTEnum, IceTBoolean *);
void icetGetEnumv(IceTEnum, IceTEnum *);
void icetGetPointerv(IceTEnum, void **);
void icetDrawCallback(IceTDrawCallbackType);
IceTImage icetDrawFrame(const IceTDouble *, const IceTDouble *, const IceTFloat *);
IceTImage icetCompositeImage(const void *, const void *, const IceTInt *, const IceTDouble *, const IceTDouble *, const IceTFloat *);
IceTImage icetImageNull(void);
IceTBoolean icetImageIsNull(IceTImage);
IceTEnum icetImageGetColorFormat(IceTImage);
IceTEnum icetImageGetDepthFormat(IceTImage);
IceTSizeType icetImageGetWidth(IceTImage);
IceTSizeType icetImageGetHeight(IceTImage);
IceTSizeType icetImageGetNumPixels(IceTImage);
IceTUByte *icetImageGetColorub(IceTImage);
IceTFloat *icetImageGetColorf(IceTImage);
IceTFloat *icetImageGetDepthf(IceTImage);
const IceTUByte *icetImageGetColorcub(IceTImage);
const IceTFloat *icetImageGetColorcf(IceTImage);
const IceTFloat *icetImageGetDepthcf(IceTImage);
void icetImageCopyColorub(IceTImage, IceTUByte *, IceTEnum);
void icetImageCopyColorf(IceTImage, IceTFloat *, IceTEnum);
void icetImageCopyDepthf(IceTImage, IceTFloat *, IceTEnum);

#ifdef __cplusplus
}
#endif
