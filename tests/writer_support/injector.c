/* injector: run a program and interfere with one of the system calls that change files.
 *
 *   injector PREFIX MODE K LOG -- PROGRAM ARGS...
 *
 * Calls that can change a file below PREFIX are counted from 1. At the K-th one:
 *   count      nothing; every counted call is written to LOG, one a line
 *   kill       the program is killed before the call is made
 *   short      a write stores half of its bytes
 *   shortkill  a write stores half of its bytes, then the program is killed
 *   NUMBER     the call is not made and fails with that errno
 * The exit status is the program's, or 128 + signal.
 *
 * x86-64 Linux only: changing a call needs the names of its registers. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
#error "this injector knows the registers of x86-64 only"
#endif

/* How a call names the file it changes. */
enum about { FD, PATH, AT, AT_OPEN, OPEN };
static const struct call { long number; const char *name; enum about about; } calls[] = {
    {SYS_openat, "openat", AT_OPEN}, {SYS_open, "open", OPEN}, {SYS_creat, "creat", PATH},
    {SYS_write, "write", FD}, {SYS_pwrite64, "pwrite64", FD}, {SYS_writev, "writev", FD}, {SYS_pwritev, "pwritev", FD},
    {SYS_fsync, "fsync", FD}, {SYS_fdatasync, "fdatasync", FD}, {SYS_syncfs, "syncfs", FD},
    {SYS_ftruncate, "ftruncate", FD}, {SYS_truncate, "truncate", PATH}, {SYS_fallocate, "fallocate", FD},
    {SYS_rename, "rename", PATH}, {SYS_renameat, "renameat", AT}, {SYS_renameat2, "renameat2", AT},
    {SYS_link, "link", PATH}, {SYS_linkat, "linkat", AT}, {SYS_unlink, "unlink", PATH}, {SYS_unlinkat, "unlinkat", AT},
    {SYS_symlinkat, "symlinkat", PATH}, {SYS_mkdir, "mkdir", PATH}, {SYS_mkdirat, "mkdirat", AT}, {SYS_rmdir, "rmdir", PATH},
    {SYS_chmod, "chmod", PATH}, {SYS_fchmod, "fchmod", FD}, {SYS_fchmodat, "fchmodat", AT},
    {SYS_chown, "chown", PATH}, {SYS_fchown, "fchown", FD}, {SYS_fchownat, "fchownat", AT},
    {SYS_fsetxattr, "fsetxattr", FD}, {SYS_fremovexattr, "fremovexattr", FD}, {SYS_setxattr, "setxattr", PATH},
    {SYS_sendfile, "sendfile", FD}, {SYS_copy_file_range, "copy_file_range", -1},
};

static const char *prefix;

static const struct call *find(long number) {
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number) return &calls[i];
    return NULL;
}

/* Read a path from the program's memory, byte by byte so that no page is crossed in vain. */
static void read_path(pid_t pid, unsigned long from, char *to, size_t size) {
    size_t n = 0;
    for (; n + 1 < size; n++) {
        struct iovec mine = {to + n, 1}, theirs = {(void *)(from + n), 1};
        if (process_vm_readv(pid, &mine, 1, &theirs, 1, 0) != 1 || !to[n]) break;
    }
    to[n] = 0;
}

static void fd_path(pid_t pid, long fd, char *to, size_t size) {
    char link[64];
    if ((int)fd == AT_FDCWD) snprintf(link, sizeof link, "/proc/%d/cwd", pid);
    else snprintf(link, sizeof link, "/proc/%d/fd/%ld", pid, fd);
    ssize_t n = readlink(link, to, size - 1);
    to[n > 0 ? n : 0] = 0;
}

/* Whether the call can change a file below the prefix; its file is left in `path`. */
static int counts(pid_t pid, const struct call *call, const struct user_regs_struct *r, char *path, size_t size) {
    char name[PATH_MAX];
    long dir = AT_FDCWD, flags = 0;
    switch (call->about) {
    case FD: fd_path(pid, r->rdi, path, size); return !strncmp(path, prefix, strlen(prefix));
    case PATH: read_path(pid, r->rdi, name, sizeof name); break;
    case OPEN: read_path(pid, r->rdi, name, sizeof name); flags = r->rsi; break;
    case AT: case AT_OPEN: dir = (int)r->rdi; read_path(pid, r->rsi, name, sizeof name); flags = r->rdx; break;
    default: fd_path(pid, r->rdx, path, size); return !strncmp(path, prefix, strlen(prefix));
    }
    if (call->about == OPEN || call->about == AT_OPEN)
        if (flags & O_PATH || !(flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC))) return 0;
    if (name[0] == '/') snprintf(path, size, "%s", name);
    else {
        char base[PATH_MAX];
        fd_path(pid, dir, base, sizeof base);
        snprintf(path, size, "%s/%s", base, name);
    }
    return !strncmp(path, prefix, strlen(prefix));
}

int main(int argc, char **argv) {
    if (argc < 7 || strcmp(argv[5], "--")) return 125;
    prefix = argv[1];
    const char *mode = argv[2];
    long k = atol(argv[3]), seen = 0;
    FILE *log = fopen(argv[4], "w");
    if (!log) return 125;
    int count = !strcmp(mode, "count"), deadly = !strcmp(mode, "kill");
    int half = !strncmp(mode, "short", 5), then_kill = !strcmp(mode, "shortkill"), error = atoi(mode);

    pid_t pid = fork();
    if (!pid) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0)) _exit(126); /* not allowed here, or traced already */
        raise(SIGSTOP);
        execvp(argv[6], argv + 6);
        _exit(127);
    }
    int status, inside = 0, failing = 0, doomed = 0;
    waitpid(pid, &status, 0);
    if (!WIFSTOPPED(status)) return 126;
    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    /* One thread is enough: the program under test has no other. */
    for (int signal = 0;;) {
        ptrace(PTRACE_SYSCALL, pid, 0, signal);
        if (waitpid(pid, &status, 0) < 0) return 125;
        if (WIFEXITED(status) || WIFSIGNALED(status)) break;
        signal = WSTOPSIG(status);
        if (signal != (SIGTRAP | 0x80)) {
            if (signal == SIGTRAP) signal = 0; /* exec */
            continue;
        }
        signal = 0;
        inside = !inside;
        struct user_regs_struct r;
        ptrace(PTRACE_GETREGS, pid, 0, &r);
        if (!inside) {
            if (failing) {
                r.rax = -error;
                ptrace(PTRACE_SETREGS, pid, 0, &r);
                failing = 0;
            }
            if (doomed) kill(pid, SIGKILL);
            continue;
        }
        const struct call *call = find((long)r.orig_rax);
        char path[2 * PATH_MAX + 2];
        if (!call || !counts(pid, call, &r, path, sizeof path)) continue;
        seen++;
        if (count) fprintf(log, "%s %s\n", call->name, path);
        if (seen != k) continue;
        fprintf(log, "%s %s\n", call->name, path);
        if (deadly) kill(pid, SIGKILL);
        else if (half) {
            if (call->number == SYS_write || call->number == SYS_pwrite64) r.rdx = (r.rdx + 1) / 2;
            ptrace(PTRACE_SETREGS, pid, 0, &r);
            doomed = then_kill;
        } else if (error) {
            r.orig_rax = -1; /* no such call */
            ptrace(PTRACE_SETREGS, pid, 0, &r);
            failing = 1;
        }
    }
    fclose(log);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
