/* Threefry-2x32 of 20 rounds, in place, on two buffers of 32-bit words. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

/* GCC's and clang's loops for AVX2 beside those for every x86-64: the dynamic linker picks one. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#endif
#ifndef FOR_EACH_PROCESSOR
#define FOR_EACH_PROCESSOR
#endif

#define PARITY 0x1BD11BDAu

#define ROUND(bits)                                      \
    a += b;                                              \
    b = (b << (bits) | b >> (32 - (bits))) ^ a;

#define GROUP(r0, r1, r2, r3, next, after, number)       \
    ROUND(r0) ROUND(r1) ROUND(r2) ROUND(r3)              \
    a += next;                                           \
    b += after + (number);

#define EVEN(next, after, number) GROUP(13, 15, 26, 6, next, after, number)
#define ODD(next, after, number) GROUP(17, 29, 16, 24, next, after, number)

FOR_EACH_PROCESSOR
static void
encrypt_words(uint32_t k0, uint32_t k1, uint32_t *restrict first, uint32_t *restrict second, Py_ssize_t count)
{
    const uint32_t k2 = k0 ^ k1 ^ PARITY;
    for (Py_ssize_t i = 0; i < count; i++) {
        uint32_t a = first[i] + k0, b = second[i] + k1;
        EVEN(k1, k2, 1)
        ODD(k2, k0, 2)
        EVEN(k0, k1, 3)
        ODD(k1, k2, 4)
        EVEN(k2, k0, 5)
        first[i] = a;
        second[i] = b;
    }
}

PyDoc_STRVAR(encrypt_doc,
"encrypt($module, key, first, second, /)\n--\n\n"
"Encrypt counters with a key, in place: Threefry-2x32 of 20 rounds.\n\n"
"Other threads run meanwhile.\n\n"
"Parameters\n"
"----------\n"
"key : (int, int)\n"
"    The two words of the key, from 0 to 4294967295.\n"
"first, second : writable buffer\n"
"    The first and the second words of the counters, of 32 bits, contiguous, equally many. The buffers must not\n"
"    overlap.\n\n"
"Raises\n"
"------\n"
"BufferError, OverflowError, TypeError, ValueError\n"
"    For what is no such key or buffer.\n\n"
"Examples\n"
"--------\n"
">>> from array import array\n"
">>> first, second = array('I', [0]), array('I', [0])\n"
">>> encrypt((0, 0), first, second)\n"
">>> hex(first[0]), hex(second[0])\n"
"('0x6b200159', '0x99ba4efe')\n");

/* PyArg_ParseTuple's own unit for 32 bits does not look for overflow. */
static int
convert_word(PyObject *object, void *address)
{
    const unsigned long long word = PyLong_AsUnsignedLongLong(object);
    if (word == (unsigned long long)-1 && PyErr_Occurred())
        return 0;
    if (word > UINT32_MAX) {
        PyErr_Format(PyExc_OverflowError, "encrypt: expected words of 32 bits, got %llu", word);
        return 0;
    }
    *(uint32_t *)address = (uint32_t)word;
    return 1;
}

static int
get_words(PyObject *object, Py_buffer *view)
{
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0)
        return -1;
    if (view->itemsize == sizeof(uint32_t))
        return 0;
    PyErr_Format(PyExc_ValueError, "encrypt: expected words of 4 bytes, got a buffer of %zd", view->itemsize);
    PyBuffer_Release(view);
    return -1;
}

static PyObject *
encrypt(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    uint32_t key[2];
    PyObject *buffers[2], *result = NULL;
    Py_buffer first, second;
    if (!PyArg_ParseTuple(arguments, "(O&O&)OO:encrypt", convert_word, &key[0], convert_word, &key[1], &buffers[0],
                          &buffers[1]))
        return NULL;
    if (get_words(buffers[0], &first) < 0)
        return NULL;
    if (get_words(buffers[1], &second) < 0) {
        PyBuffer_Release(&first);
        return NULL;
    }
    if (first.len != second.len)
        PyErr_Format(PyExc_ValueError, "encrypt: expected equally many first and second words, got %zd and %zd bytes",
                     first.len, second.len);
    else {
        Py_BEGIN_ALLOW_THREADS
        encrypt_words(key[0], key[1], first.buf, second.buf, first.len / (Py_ssize_t)sizeof(uint32_t));
        Py_END_ALLOW_THREADS
        result = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&second);
    PyBuffer_Release(&first);
    return result;
}

static PyMethodDef methods[] = {
    {"encrypt", encrypt, METH_VARARGS, encrypt_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "tensorbackend_native._native",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__native(void)
{
    return PyModuleDef_Init(&module);
}
