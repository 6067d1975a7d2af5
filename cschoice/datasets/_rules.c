/* The two rules that compare every pair of objects, each in one pass through memory.
 *
 * In NumPy, as medoid.py and pareto.py have them too, each operation on all pairs is a pass of
 * its own, and the passes cost more than the arithmetic. Tasks are the last axis of the points,
 * so the innermost loops run over neighbouring tasks and the compiler turns them into vectors. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <string.h>

/* Tasks worked on together: all their points stay in the first-level cache. */
#define TILE 64

/* One copy of a function for each generation of vector units, chosen when it is loaded. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define VECTORS
#endif

typedef struct {
    Py_ssize_t objects, features, tasks;
} Shape;

/* Sum each object's Euclidean distances to the others of its task. */
VECTORS static int
distance_sums(Shape shape, const float *restrict points, void *answer)
{
    float *restrict sums = answer;
    const Py_ssize_t row = shape.tasks, object = shape.features * row;
    memset(sums, 0, sizeof(float) * shape.objects * row);
    for (Py_ssize_t start = 0; start < row; start += TILE) {
        const Py_ssize_t n = row - start < TILE ? row - start : TILE;
        for (Py_ssize_t i = 1; i < shape.objects; i++) {
            if (PyErr_CheckSignals() < 0) /* Ctrl-C */
                return -1;
            for (Py_ssize_t j = 0; j < i; j++) {
                const float *x = points + i * object + start, *y = points + j * object + start;
                float *sum_x = sums + i * row + start, *sum_y = sums + j * row + start;
                float squares[TILE] = {0};
                for (Py_ssize_t f = 0; f < shape.features; f++, x += row, y += row)
                    for (Py_ssize_t t = 0; t < n; t++)
                        squares[t] += (x[t] - y[t]) * (x[t] - y[t]);
                for (Py_ssize_t t = 0; t < n; t++) {
                    const float distance = sqrtf(squares[t]);
                    sum_x[t] += distance;
                    sum_y[t] += distance;
                }
            }
        }
    }
    return 0;
}

/* Mark the objects that no other object of their task dominates (larger is better). */
VECTORS static int
pareto_front(Shape shape, const float *restrict points, void *answer)
{
    char *restrict front = answer;
    const Py_ssize_t row = shape.tasks, object = shape.features * row;
    memset(front, 1, shape.objects * row);
    for (Py_ssize_t start = 0; start < row; start += TILE) {
        const Py_ssize_t n = row - start < TILE ? row - start : TILE;
        for (Py_ssize_t i = 1; i < shape.objects; i++) {
            if (PyErr_CheckSignals() < 0) /* Ctrl-C */
                return -1;
            for (Py_ssize_t j = 0; j < i; j++) {
                const float *x = points + i * object + start, *y = points + j * object + start;
                char *front_x = front + i * row + start, *front_y = front + j * row + start;
                int x_better[TILE] = {0}, y_better[TILE] = {0};
                for (Py_ssize_t f = 0; f < shape.features; f++, x += row, y += row)
                    for (Py_ssize_t t = 0; t < n; t++) {
                        x_better[t] |= x[t] > y[t];
                        y_better[t] |= y[t] > x[t];
                    }
                for (Py_ssize_t t = 0; t < n; t++) {
                    front_x[t] &= x_better[t] >= y_better[t];
                    front_y[t] &= y_better[t] >= x_better[t];
                }
            }
        }
    }
    return 0;
}

/* Both are called with points, (objects, features, tasks), and room for (objects, tasks). */
static PyObject *
call(PyObject *args, Py_ssize_t answer_size, int (*rule)(Shape, const float *, void *))
{
    PyObject *given_points, *given_answer;
    Py_buffer points, answer;
    if (!PyArg_ParseTuple(args, "OO", &given_points, &given_answer)
        || PyObject_GetBuffer(given_points, &points, PyBUF_C_CONTIGUOUS) < 0)
        return NULL;
    if (PyObject_GetBuffer(given_answer, &answer, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0) {
        PyBuffer_Release(&points);
        return NULL;
    }
    int status = -1;
    if (points.ndim != 3 || answer.ndim != 2 || points.itemsize != sizeof(float)
        || answer.itemsize != answer_size || points.shape[0] != answer.shape[0]
        || points.shape[2] != answer.shape[1])
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit each other");
    else
        status = rule((Shape){points.shape[0], points.shape[1], points.shape[2]},
                      points.buf, answer.buf);
    PyBuffer_Release(&points);
    PyBuffer_Release(&answer);
    if (status < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *
call_distance_sums(PyObject *Py_UNUSED(self), PyObject *args)
{
    return call(args, sizeof(float), distance_sums);
}

static PyObject *
call_pareto_front(PyObject *Py_UNUSED(self), PyObject *args)
{
    return call(args, sizeof(char), pareto_front);
}

static PyMethodDef methods[] = {
    {"distance_sums", call_distance_sums, METH_VARARGS, NULL},
    {"pareto_front", call_pareto_front, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_rules",
    .m_methods = methods,
};

PyMODINIT_FUNC
PyInit__rules(void)
{
    return PyModule_Create(&module);
}
