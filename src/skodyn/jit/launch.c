/* Calls kernels that were compiled ahead of time.

   It does not declare that it can do without the interpreter lock (Py_mod_gil), and must not:
   kernels that keep the lock share a workspace, so a free-threaded Python has to switch it on.

   A kernel in a shared object has one form: void entry(int64_t *slots, int64_t *results). A number
   takes a slot, an array one for its address and one for each of its lengths; a tuple's members
   follow one another. `load` makes a Python
   callable of it that checks every argument against the declared signature, as numba's dispatcher
   does, and raises TypeError for anything else: a wrong type, order of bytes, number of dimensions,
   a copy that would be needed, or an array that must be written and is read-only. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#define MOST_ARGUMENTS 48
#define MOST_SLOTS 128
#define MOST_RESULTS 4

typedef void (*Entry)(int64_t *slots, int64_t *results);

typedef struct {
    PyObject_HEAD
    Entry entry;
    int count;   /* of arguments */
    int members[MOST_ARGUMENTS]; /* of an argument that is a tuple; 0 for any other */
    int releases_gil;
    char kind[MOST_ARGUMENTS]; /* d, i, b; upper case: the kernel writes to it */
    int dimensions[MOST_ARGUMENTS]; /* of arguments, members of tuples counted one by one */
    char results[MOST_RESULTS + 1];
    char name[96];
} Launcher;

static int refuse(const Launcher *self, int i, const char *why)
{
    PyErr_Format(PyExc_TypeError, "%s: argument %d %s", self->name, i + 1, why);
    return -1;
}

static int element_type(char kind)
{
    switch (kind) {
    case 'd': case 'D': return NPY_DOUBLE;
    case 'i': case 'I': return NPY_INT64;
    default: return NPY_BOOL;
    }
}

static int read_array(const Launcher *self, int i, PyObject *given, int64_t *slot)
{
    if (!PyArray_Check(given))
        return refuse(self, i, "is not an array");
    PyArrayObject *array = (PyArrayObject *)given;
    const char kind = self->kind[i];
    const int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED
                      | (kind < 'a' ? NPY_ARRAY_WRITEABLE : 0);
    if (!PyArray_EquivTypenums(PyArray_TYPE(array), element_type(kind)))
        return refuse(self, i, "has numbers of another type");
    if (PyArray_NDIM(array) != self->dimensions[i])
        return refuse(self, i, "has another number of dimensions");
    if (!PyArray_CHKFLAGS(array, flags) || PyArray_ISBYTESWAPPED(array))
        return refuse(self, i, "is not contiguous, or may not be written to");
    slot[0] = (int64_t)(intptr_t)PyArray_DATA(array);
    for (int d = 0; d < self->dimensions[i]; d++)
        slot[1 + d] = PyArray_DIM(array, d);
    return 1 + self->dimensions[i];
}

static int read_number(const Launcher *self, int i, PyObject *given, int64_t *slot)
{
    if (self->kind[i] == 'd') {
        double value = PyFloat_AsDouble(given);
        if (value == -1.0 && PyErr_Occurred())
            return -1;
        memcpy(slot, &value, sizeof value);
    } else if (self->kind[i] == 'b') {
        int value = PyObject_IsTrue(given);
        if (value < 0)
            return -1;
        *slot = value;
    } else if (PyLong_CheckExact(given)) {
        *slot = PyLong_AsLongLong(given);
        if (*slot == -1 && PyErr_Occurred())
            return -1;
    } else {
        PyObject *whole = PyNumber_Index(given);
        if (!whole)
            return -1;
        *slot = PyLong_AsLongLong(whole);
        Py_DECREF(whole);
        if (*slot == -1 && PyErr_Occurred())
            return -1;
    }
    return 1;
}

static PyObject *python_result(char kind, int64_t value)
{
    double number;
    switch (kind) {
    case 'd':
        memcpy(&number, &value, sizeof number);
        return PyFloat_FromDouble(number);
    case 'b':
        return PyBool_FromLong(value != 0);
    default:
        return PyLong_FromLongLong(value);
    }
}

static PyObject *answer(const Launcher *self, const int64_t *results)
{
    const size_t count = strlen(self->results);
    if (count == 0)
        Py_RETURN_NONE;
    if (count == 1)
        return python_result(self->results[0], results[0]);
    PyObject *all = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; all && i < count; i++) {
        PyObject *one = python_result(self->results[i], results[i]);
        if (!one)
            Py_CLEAR(all);
        else
            PyTuple_SET_ITEM(all, (Py_ssize_t)i, one);
    }
    return all;
}

static PyObject *launch(PyObject *object, PyObject *const *arguments, Py_ssize_t count)
{
    Launcher *self = (Launcher *)object;
    int64_t slots[MOST_SLOTS];
    int64_t results[MOST_RESULTS] = {0};
    int at = 0;
    if (count != self->count) {
        PyErr_Format(PyExc_TypeError, "%s takes %d arguments, not %zd", self->name, self->count,
                     count);
        return NULL;
    }
    for (int i = 0, leaf = 0; i < self->count; i++) {
        const int members = self->members[i];
        PyObject *const *given = arguments + i;
        if (members) {
            if (!PyTuple_Check(*given) || PyTuple_GET_SIZE(*given) != members) {
                refuse(self, leaf, "is not a tuple of the right length");
                return NULL;
            }
            given = ((PyTupleObject *)*given)->ob_item;
        }
        for (int m = 0; m < (members ? members : 1); m++, leaf++) {
            int used = self->dimensions[leaf] ? read_array(self, leaf, given[m], slots + at)
                                              : read_number(self, leaf, given[m], slots + at);
            if (used < 0)
                return NULL;
            at += used;
        }
    }
    if (self->releases_gil) {
        Py_BEGIN_ALLOW_THREADS
        self->entry(slots, results);
        Py_END_ALLOW_THREADS
    } else {
        self->entry(slots, results);
    }
    return answer(self, results);
}

static PyMethodDef launch_method = {"kernel", (PyCFunction)(void (*)(void))launch, METH_FASTCALL,
                                    "A kernel that was compiled ahead of time."};

static PyTypeObject LauncherType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "skodyn.launch.Launcher",
    .tp_basicsize = sizeof(Launcher),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "What a call needs to know of a kernel.",
};

/* "d1I0(d1d1)i0": a letter and a digit for each argument, members of a tuple in brackets */
static int read_signature(Launcher *self, const char *codes)
{
    int slots = 0, leaves = 0, inside = 0;
    self->count = 0;
    for (const char *at = codes; *at;) {
        if (*at == '(' || *at == ')') {
            if (inside == (*at == '('))
                return -1;
            inside = *at == '(';
            if (inside && self->count < MOST_ARGUMENTS)
                self->members[self->count] = 0;
            else
                self->count++;
            at++;
            continue;
        }
        if (leaves == MOST_ARGUMENTS || self->count >= MOST_ARGUMENTS || !strchr("dibDIB", at[0])
            || at[1] < '0' || at[1] > '9')
            return -1;
        self->kind[leaves] = at[0];
        self->dimensions[leaves] = at[1] - '0';
        slots += 1 + self->dimensions[leaves++];
        if (inside)
            self->members[self->count]++;
        else
            self->members[self->count++] = 0;
        at += 2;
    }
    return slots <= MOST_SLOTS && !inside ? 0 : -1;
}

static void *find_symbol(const char *path, const char *symbol)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = object ? dlsym(object, symbol) : NULL;
    if (!object)
        PyErr_Format(PyExc_OSError, "%s", dlerror());
    else if (!found)
        PyErr_Format(PyExc_OSError, "%s has no %s", path, symbol);
    return found;
}

static PyObject *address(PyObject *module, PyObject *arguments)
{
    const char *path, *symbol;
    if (!PyArg_ParseTuple(arguments, "ss", &path, &symbol))
        return NULL;
    void *found = find_symbol(path, symbol);
    return found ? PyLong_FromVoidPtr(found) : NULL;
}

static PyObject *load(PyObject *module, PyObject *arguments)
{
    const char *path, *symbol, *codes, *results, *name;
    int releases_gil;
    if (!PyArg_ParseTuple(arguments, "sssssp", &path, &symbol, &codes, &results, &name,
                          &releases_gil))
        return NULL;
    void *entry = find_symbol(path, symbol);
    if (!entry)
        return NULL;
    Launcher *self = PyObject_New(Launcher, &LauncherType);
    if (!self)
        return NULL;
    self->entry = (Entry)entry;
    self->releases_gil = releases_gil;
    strncpy(self->name, name, sizeof self->name - 1);
    self->name[sizeof self->name - 1] = 0;
    strncpy(self->results, results, MOST_RESULTS);
    self->results[MOST_RESULTS] = 0;
    if (read_signature(self, codes) < 0 || strlen(results) > MOST_RESULTS) {
        Py_DECREF(self);
        return PyErr_Format(PyExc_ValueError, "%s: %s is no signature", name, codes);
    }
    PyObject *made = PyCFunction_New(&launch_method, (PyObject *)self);
    Py_DECREF(self);
    return made;
}

static PyObject *level(PyObject *module, PyObject *nothing)
{
    int found = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
        && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        found = 3;
    if (found == 3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl"))
        found = 4;
#endif
    return PyLong_FromLong(found);
}

static PyObject *has_avx512(PyObject *module, PyObject *nothing)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    return PyBool_FromLong(__builtin_cpu_supports("avx512f"));
#else
    Py_RETURN_FALSE;
#endif
}

static PyMethodDef methods[] = {
    {"load", load, METH_VARARGS,
     "load(path, symbol, signature, results, name, releases_gil): a kernel of a shared object."},
    {"address", address, METH_VARARGS, "address(path, symbol): where a symbol of an object lies."},
    {"level", level, METH_NOARGS, "x86-64-v3 or v4 as 3 or 4; 0 for any other processor."},
    {"has_avx512", has_avx512, METH_NOARGS, "Does a register hold eight doubles?"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "launch",
                                        "Calls kernels that were compiled ahead of time.", -1,
                                        methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_launch(void)
{
    import_array();
    if (PyType_Ready(&LauncherType) < 0)
        return NULL;
    return PyModule_Create(&definition);
}
