/* SPDX-License-Identifier: Apache-2.0 */
/* fusec_dlpack: DLPack tensors as arguments of fusec_launch. Include it after
 * your own <dlpack/dlpack.h>; nothing here is compiled into the library.
 *
 *     struct fusec_tensor t;
 *     if (!fusec_from_dlpack(&managed->dl_tensor, &t)) ...
 *
 * Shape and strides stay in the DLPack tensor: it must outlive the launch. */
#ifndef FUSEC_DLPACK_H
#define FUSEC_DLPACK_H

#include "fusec_launch.h"

/* The element type, or -1 when fusec has no such type. The 8-bit floats need
 * a dlpack.h of version 1.1 or later. */
static inline int
fusec_dtype_from_dlpack(DLDataType t)
{
    if (t.lanes != 1)
        return -1;
    switch ((int)t.code) {
    case kDLBool:
        return t.bits == 8 ? FUSEC_BOOL : -1;
    case kDLInt:
        return t.bits == 8    ? FUSEC_I8
               : t.bits == 16 ? FUSEC_I16
               : t.bits == 32 ? FUSEC_I32
               : t.bits == 64 ? FUSEC_I64
                              : -1;
    case kDLUInt:
        return t.bits == 8 ? FUSEC_U8 : -1;
    case kDLFloat:
        return t.bits == 16   ? FUSEC_F16
               : t.bits == 32 ? FUSEC_F32
               : t.bits == 64 ? FUSEC_F64
                              : -1;
    case kDLBfloat:
        return t.bits == 16 ? FUSEC_BF16 : -1;
#if defined(DLPACK_MAJOR_VERSION) &&                                           \
    (DLPACK_MAJOR_VERSION > 1 ||                                               \
     (DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION >= 1))
    case kDLFloat8_e4m3fn:
        return FUSEC_F8E4M3;
    case kDLFloat8_e5m2:
        return FUSEC_F8E5M2;
#endif
    default:
        return -1;
    }
}

/* 1, or 0 when the tensor is of a type that fusec doesn't have. */
static inline int
fusec_from_dlpack(const DLTensor *t, struct fusec_tensor *ret)
{
    ret->dtype = fusec_dtype_from_dlpack(t->dtype);
    ret->data = (char *)t->data + t->byte_offset;
    ret->ndim = t->ndim;
    ret->shape = t->shape;
    ret->strides = t->strides;
    return ret->dtype >= 0;
}

#endif
