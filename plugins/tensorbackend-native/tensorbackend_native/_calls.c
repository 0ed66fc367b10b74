/* Calls that are ready: the code that `tensorbackend/dispatch/source.py` generates for an op, in C.

   A `Call` stands before the generated function of an op. It makes the key of a call from its arguments, finds the
   record in the memo of the op, runs the kernel, and puts the payload into a tensor. It hands every other call to the
   function: a new shape, a subclass of `Tensor`, an array, a wrong argument. So the function alone says what a call
   means, and a case that is missing here costs time, and nothing else.

   The file is compiled for one version of Python each: calls without a tuple of arguments belong to the limited API
   from 3.12 on, and the places of a class's slots do not belong to it. It reads dictionaries and lists without locks,
   so builds without the global lock do without it. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

enum {
    MOST_PARAMETERS = 16,
    MOST_MEMBERS = 16, /* of a sequence of tensors */
    MOST_PARTS = MOST_PARAMETERS + 2, /* of a key: the precision, the backend, and a part for each parameter */
};

enum { OUT, KERNEL, READY }; /* of a record */

/* What a parameter takes. */
enum {
    TENSOR = 't',
    OPTIONAL = 'm', /* a tensor or None */
    SEQUENCE = 's', /* of tensors, a list or a tuple */
    KEY = 'k', /* as in x[key] */
    NUMBER = 'n', /* whose value is data, as in a key */
    OPTION = 'o',
    SIZES = 'z', /* an option that is a shape, or an int */
    LEFT_OUT = 'l', /* None, or an optional tensor that only the function takes */
};

/* What calls need of the library: the state of the module. */
typedef struct {
    PyObject *given; /* the arguments of `configure`, which hold the references */
    PyTypeObject *tensor, *template, *shaped;
    PyObject *wrap, *option_key, *atoms, *defaults;
    Py_ssize_t constants_at, result_at; /* the places in a `ReadyCall` */
    Py_ssize_t template_at, backend_at, data_at, kind_at; /* the places of slots */
    PyObject *current_precision, *shape; /* texts */
} Library;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Library *library;
    PyObject *given; /* the arguments of `Call`, which hold the references */
    PyObject *function; /* the generated function */
    PyObject *calls; /* the memo's dictionary of records */
    PyObject *recover; /* what follows an error of a kernel */
    PyObject *names; /* of the parameters; None for those without one in a call */
    PyObject *defaults;
    PyObject *weak_references;
    int count, positional, operand_count, option_count;
    int nested, precise, numbers, reflected, direct;
    char roles[MOST_PARAMETERS];
    unsigned char operands[MOST_PARAMETERS], options[MOST_PARAMETERS]; /* the places of parameters */
} Call;

/* What is known of one call. The references are its own, but for those of `values`. */
typedef struct {
    PyObject *values[MOST_PARAMETERS];
    PyObject *backend;
    PyObject *parts[MOST_PARTS]; /* of the key */
    PyObject *payloads[MOST_PARAMETERS + 1]; /* the first is room for the function that is called */
    int part_count, payload_count, has_numbers;
} Reading;

#define SLOT(object, place) (*(PyObject **)((char *)(object) + (place)))

/* Binds arguments to parameters. Returns 0 where the function has to say what is wrong, or to compare names. */
static int
bind(const Call *call, PyObject *const *arguments, Py_ssize_t given, PyObject *keywords, PyObject **values)
{
    const int count = call->count;
    const Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    if (given > call->positional)
        return 0;
    for (Py_ssize_t i = 0; i < count; i++)
        values[i] = i < given ? arguments[i] : PyTuple_GET_ITEM(call->defaults, i);
    for (Py_ssize_t k = 0; k < named; k++) {
        Py_ssize_t i = given;
        while (i < count && PyTuple_GET_ITEM(call->names, i) != PyTuple_GET_ITEM(keywords, k))
            i++;
        if (i == count)
            return 0;
        values[i] = arguments[given + k];
    }
    if (call->reflected) {
        PyObject *second = values[0];
        values[0] = values[1];
        values[1] = second;
    }
    return 1;
}

/* Reading arguments: each function returns 1, 0 for a call that is left to the function, or -1 with an error set */

static void
add_part(Reading *reading, PyObject *part)
{
    reading->parts[reading->part_count++] = Py_NewRef(part);
}

static void
add_payload(Reading *reading, PyObject *payload)
{
    reading->payloads[++reading->payload_count] = Py_XNewRef(payload);
}

/* Whether a value is a tensor with data on the backend of the call, which the first tensor decides. */
static int
check_tensor(const Library *library, Reading *reading, PyObject *value)
{
    if (Py_TYPE(value) != library->tensor)
        return 0;
    PyObject *backend = SLOT(value, library->backend_at);
    if (backend == NULL || SLOT(value, library->template_at) == NULL || SLOT(value, library->data_at) == NULL)
        return 0; /* transferred or deallocated */
    if (reading->backend == NULL)
        reading->backend = Py_NewRef(backend);
    return backend == reading->backend;
}

static int
read_tensor(const Library *library, Reading *reading, PyObject *value)
{
    if (!check_tensor(library, reading, value))
        return 0;
    add_part(reading, SLOT(value, library->template_at));
    add_payload(reading, SLOT(value, library->data_at));
    return 1;
}

static int
read_sequence(const Library *library, Reading *reading, PyObject *value)
{
    if (!PyList_CheckExact(value) && !PyTuple_CheckExact(value))
        return 0;
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(value);
    if (size == 0 || size > MOST_MEMBERS)
        return 0;
    PyObject *templates = PyTuple_New(size), *payloads = PyList_New(size);
    int known = templates == NULL || payloads == NULL ? -1 : 1;
    for (Py_ssize_t i = 0; i < size && known > 0; i++) { /* the list may have changed, as memory may run finalizers */
        PyObject *member = i < PySequence_Fast_GET_SIZE(value) ? PySequence_Fast_GET_ITEM(value, i) : Py_None;
        known = check_tensor(library, reading, member);
        if (known) {
            PyTuple_SET_ITEM(templates, i, Py_NewRef(SLOT(member, library->template_at)));
            PyList_SET_ITEM(payloads, i, Py_NewRef(SLOT(member, library->data_at)));
        }
    }
    if (known > 0) {
        add_part(reading, templates);
        add_payload(reading, payloads);
    }
    Py_XDECREF(templates);
    Py_XDECREF(payloads);
    return known;
}

/* The classes of the parts of a key; NULL without an error if one of them is a tensor. */
static PyObject *
structure_of(const Library *library, PyObject *key)
{
    const Py_ssize_t size = PyTuple_GET_SIZE(key);
    PyObject *structure = PyTuple_New(size);
    for (Py_ssize_t i = 0; i < size && structure != NULL; i++) {
        PyTypeObject *kind = Py_TYPE(PyTuple_GET_ITEM(key, i));
        if (kind == library->tensor)
            Py_CLEAR(structure);
        else
            PyTuple_SET_ITEM(structure, i, Py_NewRef((PyObject *)kind));
    }
    return structure;
}

/* The key of x[key]. Without tensors, it serves all sizes of x: the kind takes the place of the template just read. */
static int
read_key(const Library *library, Reading *reading, PyObject *value)
{
    if (Py_TYPE(value) == library->tensor) {
        if (!read_tensor(library, reading, value))
            return 0;
    }
    else {
        const int several = PyTuple_CheckExact(value);
        PyObject *structure = several ? structure_of(library, value) : Py_NewRef((PyObject *)Py_TYPE(value));
        if (structure == NULL)
            return PyErr_Occurred() ? -1 : 0;
        PyObject **before = &reading->parts[reading->part_count - 1];
        Py_SETREF(*before, Py_NewRef(SLOT(*before, library->kind_at)));
        reading->parts[reading->part_count++] = structure;
        add_payload(reading, value);
        if (several)
            return 1;
    }
    PyObject **payload = &reading->payloads[reading->payload_count], *packed = PyTuple_Pack(1, *payload);
    if (packed == NULL)
        return -1;
    Py_SETREF(*payload, packed);
    return 1;
}

static int
read_operand(const Call *call, Reading *reading, int place)
{
    const Library *library = call->library;
    PyObject *value = reading->values[place];
    switch (call->roles[place]) {
    case TENSOR:
        if (call->numbers && (PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value) ||
                              PyComplex_CheckExact(value))) {
            add_part(reading, (PyObject *)Py_TYPE(value));
            add_payload(reading, NULL); /* `make_constants` makes it */
            reading->has_numbers = 1;
            return 1;
        }
        return read_tensor(library, reading, value);
    case OPTIONAL:
        if (value != Py_None)
            return read_tensor(library, reading, value);
        add_part(reading, value);
        add_payload(reading, value);
        return 1;
    case SEQUENCE:
        return read_sequence(library, reading, value);
    case KEY:
        return read_key(library, reading, value);
    case NUMBER:
        add_part(reading, (PyObject *)Py_TYPE(value));
        add_payload(reading, value);
        return 1;
    default:
        return value == Py_None;
    }
}

/* `option_key`; a tuple of ints and texts is its own. */
static PyObject *
key_of(const Library *library, PyObject *value)
{
    const Py_ssize_t size = PyTuple_CheckExact(value) ? PyTuple_GET_SIZE(value) : -1;
    Py_ssize_t i = 0;
    for (; i < size; i++) {
        PyObject *part = PyTuple_GET_ITEM(value, i);
        if (!PyLong_CheckExact(part) && !PyUnicode_CheckExact(part))
            break;
    }
    return i == size ? Py_NewRef(value) : PyObject_CallOneArg(library->option_key, value);
}

/* The part of a key for an option: `OPTION` in source.py, or `_SIZES_KEY` for one that is a shape. */
static int
read_option(const Library *library, Reading *reading, PyObject *value, int is_shape)
{
    PyObject *kind = (PyObject *)Py_TYPE(value), *part;
    if (PyLong_CheckExact(value))
        part = PyTuple_Pack(1, value);
    else if (!is_shape && (value == Py_None || PyBool_Check(value) || PyUnicode_CheckExact(value)))
        part = Py_NewRef(value);
    else {
        const int is_atom = is_shape ? 0 : PySet_Contains(library->atoms, kind);
        PyObject *key = is_atom < 0 ? NULL : is_atom ? Py_NewRef(value) : key_of(library, value);
        part = key == NULL || is_shape ? Py_XNewRef(key) : PyTuple_Pack(2, key, kind);
        Py_XDECREF(key);
    }
    if (part == NULL)
        return -1;
    reading->parts[reading->part_count++] = part;
    if (is_shape)
        add_part(reading, kind);
    return 1;
}

static int
read_arguments(const Call *call, Reading *reading)
{
    const Library *library = call->library;
    if (call->precise && !call->nested) {
        PyObject *current = PyDict_GetItemWithError(library->defaults, library->current_precision);
        PyObject *precision = current == NULL ? NULL : PyObject_CallNoArgs(current);
        if (precision == NULL)
            return PyErr_Occurred() ? -1 : 0;
        reading->parts[reading->part_count++] = precision;
    }
    const int place = reading->part_count++; /* of the backend, which the first tensor tells */
    reading->parts[place] = NULL;
    for (int i = 0; i < call->operand_count; i++) {
        const int known = read_operand(call, reading, call->operands[i]);
        if (known <= 0)
            return known;
    }
    if (reading->backend == NULL)
        return 0;
    reading->parts[place] = Py_NewRef(reading->backend);
    for (int i = 0; i < call->option_count; i++) {
        const int option = call->options[i];
        if (read_option(library, reading, reading->values[option], call->roles[option] == SIZES) < 0)
            return -1;
    }
    return 1;
}

static void
release(Reading *reading)
{
    for (int i = 0; i < reading->part_count; i++)
        Py_XDECREF(reading->parts[i]);
    for (int i = 1; i <= reading->payload_count; i++)
        Py_XDECREF(reading->payloads[i]);
    Py_XDECREF(reading->backend);
}

/* From the key to the result */

/* The record of a call, a reference of its own: (out, kernel, ready). NULL without an error for a call that is new. */
static PyObject *
find(const Call *call, Reading *reading)
{
    PyObject *found = call->calls;
    if (call->nested) {
        for (int i = 0; i < reading->part_count && found != NULL; i++)
            found = PyDict_GetItemWithError(found, reading->parts[i]);
        return Py_XNewRef(found);
    }
    PyObject *key = PyTuple_New(reading->part_count);
    for (int i = 0; i < reading->part_count && key != NULL; i++)
        PyTuple_SET_ITEM(key, i, Py_NewRef(reading->parts[i]));
    found = key == NULL ? NULL : Py_XNewRef(PyDict_GetItemWithError(found, key));
    Py_XDECREF(key);
    return found;
}

/* Fills in the payloads of numbers; returns -1 for a call that is left to the function, as for a number too large. */
static int
make_constants(const Call *call, Reading *reading, PyObject *record)
{
    PyObject *makers = PyTuple_GET_ITEM(PyTuple_GET_ITEM(record, READY), call->library->constants_at);
    if (PyTuple_GET_SIZE(makers) != call->operand_count)
        return -1; /* a direct function, whose record has none */
    for (int i = 0; i < call->operand_count; i++) {
        if (reading->payloads[i + 1] == NULL) {
            PyObject *value = reading->values[call->operands[i]];
            reading->payloads[i + 1] = PyObject_CallOneArg(PyTuple_GET_ITEM(makers, i), value);
            if (reading->payloads[i + 1] == NULL)
                return -1;
        }
    }
    return 0;
}

/* A tensor, or what the op makes of several. */
static PyObject *
wrap(const Library *library, PyObject *record, PyObject *backend, PyObject *data)
{
    PyObject *out = PyTuple_GET_ITEM(record, OUT);
    if (Py_TYPE(out) == library->template)
        Py_INCREF(out);
    else if (Py_TYPE(out) == library->shaped) {
        PyObject *shape = PyObject_GetAttr(data, library->shape);
        out = shape == NULL ? NULL : PyObject_GetItem(out, shape);
        Py_XDECREF(shape);
        if (out == NULL)
            return NULL;
    }
    else {
        PyObject *result = PyTuple_GET_ITEM(PyTuple_GET_ITEM(record, READY), library->result_at);
        return PyObject_CallFunctionObjArgs(library->wrap, out, backend, data, result, NULL);
    }
    PyObject *tensor = library->tensor->tp_alloc(library->tensor, 0);
    if (tensor == NULL) {
        Py_DECREF(out);
        return NULL;
    }
    SLOT(tensor, library->template_at) = out;
    SLOT(tensor, library->backend_at) = Py_NewRef(backend);
    SLOT(tensor, library->data_at) = Py_NewRef(data);
    return tensor;
}

/* What the function does where a kernel fails: takes the error that is set, and mostly raises another one. */
static PyObject *
recover(const Call *call, PyObject *const *values, PyObject *record, PyObject *backend, PyObject *const *payloads,
        int count)
{
    PyObject *type, *error, *traceback, *result = NULL;
    PyErr_Fetch(&type, &error, &traceback); /* PyErr_GetRaisedException is new in 3.12 */
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != NULL)
        PyException_SetTraceback(error, traceback);
    PyObject *data = PyList_New(count), *arguments = PyTuple_New(call->count);
    if (data != NULL && arguments != NULL) {
        for (int i = 0; i < count; i++)
            PyList_SET_ITEM(data, i, Py_NewRef(payloads[i + 1]));
        for (int i = 0; i < call->count; i++)
            PyTuple_SET_ITEM(arguments, i, Py_NewRef(values[i]));
        result = PyObject_CallFunctionObjArgs(call->recover, error, PyTuple_GET_ITEM(record, READY), backend, data,
                                              arguments, NULL);
    }
    Py_XDECREF(data);
    Py_XDECREF(arguments);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    return result;
}

/* Runs the kernel. The caller holds references to all, and has room for one object in front of the payloads. */
static PyObject *
run(const Call *call, PyObject *const *values, PyObject *record, PyObject *backend, PyObject **payloads, int count)
{
    PyObject *result = NULL, *data = PyObject_Vectorcall(PyTuple_GET_ITEM(record, KERNEL), payloads + 1,
                                                         (size_t)count | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    if (data != NULL) {
        result = wrap(call->library, record, backend, data);
        Py_DECREF(data);
    }
    if (result == NULL && (data == NULL || call->direct) && PyErr_ExceptionMatches(PyExc_Exception))
        return recover(call, values, record, backend, payloads, count);
    return result;
}

static PyObject *
call_op(PyObject *self, PyObject *const *arguments, size_t flags, PyObject *keywords)
{
    const Call *call = (Call *)self;
    PyObject *result = NULL, *record = NULL;
    Reading reading;
    if (bind(call, arguments, PyVectorcall_NARGS(flags), keywords, reading.values)) {
        reading.backend = NULL;
        reading.part_count = reading.payload_count = reading.has_numbers = 0;
        if (read_arguments(call, &reading) > 0)
            record = find(call, &reading);
        if (record != NULL && (!reading.has_numbers || make_constants(call, &reading, record) == 0))
            result = run(call, reading.values, record, reading.backend, reading.payloads, reading.payload_count);
        else if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception))
            PyErr_Clear(); /* the function finds the error again */
        release(&reading);
        Py_XDECREF(record);
        if (result != NULL || PyErr_Occurred())
            return result;
    }
    return PyObject_Vectorcall(call->function, arguments, flags, keywords);
}

/* The same for an op of one or two tensors, and nothing else, where each step counts. */
static PyObject *
call_plain_op(PyObject *self, PyObject *const *arguments, size_t flags, PyObject *keywords)
{
    const Call *call = (Call *)self;
    const Library *library = call->library;
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (count != call->count || keywords != NULL || Py_TYPE(arguments[0]) != library->tensor ||
        Py_TYPE(arguments[count - 1]) != library->tensor)
        return call_op(self, arguments, flags, keywords);
    PyObject *first = arguments[0], *last = arguments[count - 1];
    PyObject *backend = SLOT(first, library->backend_at), *template = SLOT(first, library->template_at);
    PyObject *payloads[] = {NULL, SLOT(first, library->data_at), SLOT(last, library->data_at)};
    if (backend == NULL || template == NULL || payloads[1] == NULL || payloads[2] == NULL ||
        SLOT(last, library->backend_at) != backend || SLOT(last, library->template_at) == NULL)
        return call_op(self, arguments, flags, keywords);
    PyObject *record = PyDict_GetItemWithError(call->calls, backend);
    if (record != NULL)
        record = PyDict_GetItemWithError(record, template);
    if (record != NULL && count == 2)
        record = PyDict_GetItemWithError(record, SLOT(last, library->template_at));
    PyObject *result = NULL;
    if (record != NULL) {
        PyObject *held[] = {record, backend, payloads[1], payloads[2]};
        for (int i = 0; i < 4; i++)
            Py_INCREF(held[i]);
        result = run(call, arguments, record, backend, payloads, (int)count);
        for (int i = 0; i < 4; i++)
            Py_DECREF(held[i]);
    }
    const int is_known = result != NULL || PyErr_Occurred();
    return is_known ? result : PyObject_Vectorcall(call->function, arguments, flags, keywords);
}

/* The type: it answers each question about itself as its function does */

static int
traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Call *)self)->given);
    return 0;
}

static void
deallocate(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (((Call *)self)->weak_references != NULL)
        PyObject_ClearWeakRefs(self);
    Py_XDECREF(((Call *)self)->given);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Says where operands and options are among the parameters; returns -1 with an error set for roles that do not fit. */
static int
assign_roles(Call *call, const char *roles)
{
    int parts = 2;
    for (int i = 0; i < call->count; i++) {
        const char role = call->roles[i] = roles[i];
        parts += role == SIZES ? 2 : 1;
        if (strchr("tmsknozl", role) == NULL || (role == KEY && (i == 0 || roles[i - 1] != TENSOR)))
            parts = MOST_PARTS + 1;
        if (role == OPTION || role == SIZES)
            call->options[call->option_count++] = (unsigned char)i;
        else
            call->operands[call->operand_count++] = (unsigned char)i;
    }
    if (parts <= MOST_PARTS)
        return 0;
    PyErr_Format(PyExc_ValueError, "Call: expected the roles of a few parameters, got %s", roles);
    return -1;
}

static PyObject *
make(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    Call *call = (Call *)type->tp_alloc(type, 0);
    const char *roles;
    if (call == NULL)
        return NULL;
    call->vectorcall = call_op;
    call->library = PyType_GetModuleState(type);
    call->given = Py_NewRef(arguments);
    if (!PyArg_ParseTuple(arguments, "OO!OO!sO!ippppp:Call", &call->function, &PyDict_Type, &call->calls,
                          &call->recover, &PyTuple_Type, &call->names, &roles, &PyTuple_Type, &call->defaults,
                          &call->positional, &call->nested, &call->precise, &call->numbers, &call->reflected,
                          &call->direct))
        goto failed;
    const Py_ssize_t count = (Py_ssize_t)strlen(roles);
    call->count = (int)count;
    if (call->library->given == NULL || count > MOST_PARAMETERS || PyTuple_GET_SIZE(call->names) != count ||
        PyTuple_GET_SIZE(call->defaults) != count || call->positional < 0 || call->positional > count ||
        (call->reflected && count != 2)) {
        PyErr_Format(PyExc_ValueError, "Call: expected at most %d parameters after configure()", MOST_PARAMETERS);
        goto failed;
    }
    if (call->nested && !call->reflected && (strcmp(roles, "t") == 0 || strcmp(roles, "tt") == 0))
        call->vectorcall = call_plain_op;
    if (assign_roles(call, roles) == 0)
        return (PyObject *)call;
failed:
    Py_DECREF(call);
    return NULL;
}

static PyObject *
get_attribute(PyObject *self, PyObject *name)
{
    const int is_of_pickle = PyUnicode_CompareWithASCIIString(name, "__reduce_ex__") == 0;
    return is_of_pickle ? PyObject_GenericGetAttr(self, name) : PyObject_GetAttr(((Call *)self)->function, name);
}

static int
set_attribute(PyObject *self, PyObject *name, PyObject *value)
{
    return PyObject_SetAttr(((Call *)self)->function, name, value);
}

static PyObject *
represent(PyObject *self)
{
    return PyObject_Repr(((Call *)self)->function);
}

static PyObject *
get_method(PyObject *self, PyObject *object, PyObject *Py_UNUSED(type))
{
    return object == NULL || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

/* Pickled by name, as functions are. */
static PyObject *
reduce(PyObject *self, PyObject *Py_UNUSED(protocol))
{
    return PyObject_GetAttrString(((Call *)self)->function, "__qualname__");
}

PyDoc_STRVAR(call_doc,
"The generated function of an op, with its calls that are ready served in C. Whoever asks about its name, its class\n"
"or another attribute gets the answer of the function.\n");

static PyMethodDef call_methods[] = {{"__reduce_ex__", reduce, METH_O, NULL}, {NULL, NULL, 0, NULL}};

static PyMemberDef call_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Call, vectorcall), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Call, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot call_slots[] = {
    {Py_tp_doc, (void *)call_doc},
    {Py_tp_new, make},
    {Py_tp_traverse, traverse},
    {Py_tp_dealloc, deallocate},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_getattro, get_attribute},
    {Py_tp_setattro, set_attribute},
    {Py_tp_descr_get, get_method},
    {Py_tp_repr, represent},
    {Py_tp_methods, call_methods},
    {Py_tp_members, call_members},
    {0, NULL},
};

static PyType_Spec call_spec = {
    .name = "tensorbackend_native.Call",
    .basicsize = sizeof(Call),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = call_slots,
};

/* The module */

/* The place of a slot of a class; -1 with an error set if it has no such slot. */
static Py_ssize_t
place_of(PyTypeObject *class, const char *name)
{
    Py_ssize_t place = -1;
    PyObject *descriptor = PyObject_GetAttrString((PyObject *)class, name);
    if (descriptor != NULL && Py_IS_TYPE(descriptor, &PyMemberDescr_Type))
        place = ((PyMemberDescrObject *)descriptor)->d_member->offset;
    else if (descriptor != NULL)
        PyErr_Format(PyExc_TypeError, "configure: expected a class with a slot %s, got %R", name, class);
    Py_XDECREF(descriptor);
    return place;
}

PyDoc_STRVAR(configure_doc,
"configure($module, tensor, template, shaped, wrap, option_key, atoms, defaults, constants_at, result_at, /)\n--\n\n"
"Tell the module the classes and functions of the library.\n");

static PyObject *
configure(PyObject *module, PyObject *arguments)
{
    Library *library = PyModule_GetState(module), new = *library;
    if (!PyArg_ParseTuple(arguments, "O!O!O!OOO!O!nn:configure", &PyType_Type, &new.tensor, &PyType_Type,
                          &new.template, &PyType_Type, &new.shaped, &new.wrap, &new.option_key, &PySet_Type,
                          &new.atoms, &PyDict_Type, &new.defaults, &new.constants_at, &new.result_at) ||
        (new.template_at = place_of(new.tensor, "template")) < 0 ||
        (new.backend_at = place_of(new.tensor, "backend")) < 0 || (new.data_at = place_of(new.tensor, "data")) < 0 ||
        (new.kind_at = place_of(new.template, "kind")) < 0)
        return NULL;
    new.given = Py_NewRef(arguments);
    PyObject *before = library->given;
    *library = new;
    Py_XDECREF(before);
    return Py_NewRef(Py_None);
}

static int
set_up(PyObject *module)
{
    Library *library = PyModule_GetState(module);
    library->current_precision = PyUnicode_InternFromString("current_precision");
    library->shape = PyUnicode_InternFromString("shape");
    PyObject *type = PyType_FromModuleAndSpec(module, &call_spec, NULL);
    if (library->current_precision == NULL || library->shape == NULL || type == NULL)
        return -1;
    const int added = PyModule_AddType(module, (PyTypeObject *)type);
    Py_DECREF(type);
    return added;
}

static void
free_module(void *module)
{
    Library *library = PyModule_GetState(module);
    Py_CLEAR(library->given);
    Py_CLEAR(library->current_precision);
    Py_CLEAR(library->shape);
}

static PyMethodDef methods[] = {{"configure", configure, METH_VARARGS, configure_doc}, {NULL, NULL, 0, NULL}};
static PyModuleDef_Slot slots[] = {{Py_mod_exec, set_up}, {0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "tensorbackend_native._calls", .m_size = sizeof(Library),
    .m_methods = methods, .m_slots = slots, .m_free = free_module,
};

PyMODINIT_FUNC
PyInit__calls(void)
{
    return PyModuleDef_Init(&module);
}
