/*
 * The conformance scenario through ZooKeeper's C client (multi-threaded library).
 *
 *     scenario HOST:PORT PROXY_HOST:PORT       prints one line for each step
 *
 * The second address leads to the same server through a proxy that loses connections on request. Events and the
 * completions of asynchronous calls come from one thread of the library in the order in which the server sent them,
 * so this client shows the order of an event and of the reply to the write that caused it.
 */
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

enum { WAIT_SECONDS = 30, TIMEOUT_MS = 20000, LINE = 512 };

static zhandle_t *a, *b;
static const char *proxied;

/* What the library's thread saw, in order: a bounded list that the main thread waits on. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t grown;
    char line[64][LINE];
    int count, taken;
} seen = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {{0}}, 0, 0};

static void note(const char *line) {
    pthread_mutex_lock(&seen.lock);
    if (seen.count < 64) snprintf(seen.line[seen.count++], LINE, "%s", line);
    pthread_cond_broadcast(&seen.grown);
    pthread_mutex_unlock(&seen.lock);
}

static int by_text(const void *x, const void *y) { return strcmp(x, y); }

/* Prints the next `count` notes; sorted where their order is not guaranteed. */
static void expect(const char *name, int count, int sorted) {
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += WAIT_SECONDS;
    pthread_mutex_lock(&seen.lock);
    while (seen.count - seen.taken < count)
        if (pthread_cond_timedwait(&seen.grown, &seen.lock, &deadline) == ETIMEDOUT) break;
    int end = seen.count - seen.taken < count ? seen.count : seen.taken + count;
    if (sorted) qsort(seen.line[seen.taken], end - seen.taken, LINE, by_text);
    if (end - seen.taken < count) printf("%s: less than expected\n", name);
    while (seen.taken < end) printf("%s: %s\n", name, seen.line[seen.taken++]);
    if (seen.taken == seen.count) seen.count = seen.taken = 0;
    pthread_mutex_unlock(&seen.lock);
}

static const char *event_name(int type) {
    if (type == ZOO_CREATED_EVENT) return "created";
    if (type == ZOO_DELETED_EVENT) return "deleted";
    if (type == ZOO_CHANGED_EVENT) return "changed";
    if (type == ZOO_CHILD_EVENT) return "child";
    return "other";
}

static const char *state_name(int state) {
    if (state == ZOO_CONNECTED_STATE) return "connected";
    if (state == ZOO_CONNECTING_STATE) return "connecting";
    if (state == ZOO_ASSOCIATING_STATE) return "associating";
    if (state == ZOO_EXPIRED_SESSION_STATE) return "expired";
    if (state == ZOO_AUTH_FAILED_STATE) return "auth failed";
    return "other";
}

static void watcher(zhandle_t *zh, int type, int state, const char *path, void *context) {
    char line[LINE];
    if (type == ZOO_SESSION_EVENT) {
        if (context) return; /* every watch hears of the session; the session's own watcher is enough */
        if (state == ZOO_ASSOCIATING_STATE) return; /* between the connect and its answer: not always reported */
        snprintf(line, LINE, "session %s", state_name(state));
    } else {
        snprintf(line, LINE, "event %s %s %s (%s)", event_name(type), path, state_name(state), (const char *)context);
    }
    note(line);
}

static const char *error_name(int rc) {
    switch (rc) {
    case ZOK: return "ok";
    case ZNONODE: return "no node";
    case ZNODEEXISTS: return "node exists";
    case ZBADVERSION: return "bad version";
    case ZNOTEMPTY: return "not empty";
    case ZNOAUTH: return "no auth";
    case ZINVALIDACL: return "invalid acl";
    case ZNOCHILDRENFOREPHEMERALS: return "no children for ephemerals";
    case ZBADARGUMENTS: return "bad arguments";
    case ZRUNTIMEINCONSISTENCY: return "runtime inconsistency";
    case ZMARSHALLINGERROR: return "marshalling error";
    case ZUNIMPLEMENTED: return "unimplemented";
    default: return zerror(rc);
    }
}

static const char *stat_text(const struct Stat *s) {
    static char text[LINE];
    const char *owner = s->ephemeralOwner == 0 ? "none" : s->ephemeralOwner == zoo_client_id(a)->client_id ? "mine" : "other";
    snprintf(text, LINE, "version=%d cversion=%d aversion=%d owner=%s length=%d children=%d touched=%d populated=%d dated=%d",
             s->version, s->cversion, s->aversion, owner, s->dataLength, s->numChildren, s->mzxid > s->czxid,
             s->pzxid > s->czxid, s->ctime > 0 && s->mtime >= s->ctime);
    return text;
}

static void result(const char *name, int rc) { printf("%s: %s\n", name, error_name(rc)); }

static void result_stat(const char *name, int rc, const struct Stat *stat) {
    if (rc == ZOK) printf("%s: %s\n", name, stat_text(stat));
    else result(name, rc);
}

static void create(const char *name, zhandle_t *zh, const char *path, const char *data, const struct ACL_vector *acl, int flags) {
    char made[LINE] = "";
    int rc = zoo_create(zh, path, data, data ? (int)strlen(data) : -1, acl, flags, made, sizeof made);
    if (rc == ZOK) printf("%s: %s\n", name, made);
    else result(name, rc);
}

static void get(const char *name, zhandle_t *zh, const char *path, const char *watched) {
    char data[LINE];
    int length = sizeof data;
    struct Stat stat;
    int rc = zoo_wget(zh, path, watched ? watcher : NULL, (void *)watched, data, &length, &stat);
    if (rc == ZOK) printf("%s: '%.*s' %s\n", name, length < 0 ? 0 : length, data, length < 0 ? "null" : stat_text(&stat));
    else result(name, rc);
}

static void set(const char *name, zhandle_t *zh, const char *path, const char *data, int version) {
    struct Stat stat;
    int rc = zoo_set2(zh, path, data, strlen(data), version, &stat);
    result_stat(name, rc, &stat);
}

static void exists(const char *name, zhandle_t *zh, const char *path, const char *watched) {
    struct Stat stat;
    int rc = zoo_wexists(zh, path, watched ? watcher : NULL, (void *)watched, &stat);
    result_stat(name, rc, &stat);
}

static int by_name(const void *x, const void *y) { return strcmp(*(char *const *)x, *(char *const *)y); }

static void children(const char *name, zhandle_t *zh, const char *path, const char *watched) {
    struct String_vector names;
    struct Stat stat;
    int rc = zoo_wget_children2(zh, path, watched ? watcher : NULL, (void *)watched, &names, &stat);
    if (rc != ZOK) {
        result(name, rc);
        return;
    }
    qsort(names.data, names.count, sizeof *names.data, by_name);
    printf("%s:", name);
    for (int i = 0; i < names.count; i++) printf(" %s", names.data[i]);
    printf(" %s\n", stat_text(&stat));
    deallocate_String_vector(&names);
}

static void get_acl(const char *name, zhandle_t *zh, const char *path) {
    struct ACL_vector acl;
    struct Stat stat;
    int rc = zoo_get_acl(zh, path, &acl, &stat);
    if (rc != ZOK) {
        result(name, rc);
        return;
    }
    printf("%s:", name);
    for (int i = 0; i < acl.count; i++) printf(" %s:%s:%d", acl.data[i].id.scheme, acl.data[i].id.id, acl.data[i].perms);
    printf(" %s\n", stat_text(&stat));
    deallocate_ACL_vector(&acl);
}

static void multi(const char *name, int count, const zoo_op_t *ops) {
    zoo_op_result_t results[8];
    memset(results, 0, sizeof results);
    int rc = zoo_multi(a, count, ops, results);
    printf("%s: %s [", name, error_name(rc));
    for (int i = 0; i < count; i++) {
        printf("%s%s", i ? ", " : "", error_name(results[i].err));
        if (results[i].err == ZOK && rc == ZOK && results[i].value) printf(" %s", results[i].value);
        if (results[i].err == ZOK && rc == ZOK && results[i].stat) printf(" version=%d", results[i].stat->version);
    }
    printf("]\n");
}

/* Completions of the asynchronous part: one line each, in the order of arrival. */
static void done_stat(int rc, const struct Stat *stat, const void *context) {
    char line[LINE];
    snprintf(line, LINE, "reply to %s: %s", (const char *)context, rc == ZOK ? stat_text(stat) : error_name(rc));
    note(line);
}
static void done_string(int rc, const char *value, const void *context) {
    char line[LINE];
    snprintf(line, LINE, "reply to %s: %s", (const char *)context, rc == ZOK ? value : error_name(rc));
    note(line);
}
static void done_void(int rc, const void *context) {
    char line[LINE];
    snprintf(line, LINE, "reply to %s: %s", (const char *)context, error_name(rc));
    note(line);
}
static void done_data(int rc, const char *value, int length, const struct Stat *stat, const void *context) {
    char line[LINE];
    snprintf(line, LINE, "reply to %s: %s %.*s", (const char *)context, error_name(rc), rc == ZOK ? length : 0, value);
    note(line);
}

static void say(const char *word) {
    char host[128], answer[5] = "";
    snprintf(host, sizeof host, "%s", proxied);
    char *port = strrchr(host, ':');
    *port++ = 0;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *address;
    if (getaddrinfo(host, port, &hints, &address) != 0) exit(3);
    int control = socket(address->ai_family, SOCK_STREAM, 0);
    if (connect(control, address->ai_addr, address->ai_addrlen) != 0 || write(control, word, 4) != 4) exit(3);
    if (recv(control, answer, 4, MSG_WAITALL) != 4 || strcmp(answer, "done") != 0) exit(3);
    close(control);
    freeaddrinfo(address);
}

static zhandle_t *open_session(const char *hosts) {
    zhandle_t *zh = zookeeper_init(hosts, watcher, TIMEOUT_MS, NULL, NULL, 0);
    if (!zh) exit(3);
    expect("open", 1, 0);
    return zh;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    const char *direct = argv[1];
    proxied = argv[2];
    setvbuf(stdout, NULL, _IOLBF, 0);
    zoo_set_debug_level(0);
    zoo_deterministic_conn_order(1);
    a = open_session(proxied);
    b = open_session(direct);
    const struct ACL_vector *open_acl = &ZOO_OPEN_ACL_UNSAFE;

    /* Nodes and their versions. */
    create("create", a, "/c", "hello", open_acl, 0);
    create("create again", a, "/c", "hello", open_acl, 0);
    create("create below a missing parent", a, "/missing/x", "", open_acl, 0);
    create("create with null data", a, "/c/null", NULL, open_acl, 0);
    get("get null data", a, "/c/null", NULL);
    create("create with empty data", a, "/c/empty", "", open_acl, 0);
    get("get empty data", a, "/c/empty", NULL);
    get("get", b, "/c", NULL);
    get("get a missing node", a, "/nope", NULL);
    exists("exists", a, "/c", NULL);
    exists("exists of a missing node", a, "/nope", NULL);
    set("set at version 0", a, "/c", "world", 0);
    set("set at version 0 again", a, "/c", "worse", 0);
    set("set at any version", a, "/c", "again", -1);
    set("set a missing node", a, "/nope", "", -1);
    result("delete with children", zoo_delete(a, "/c", -1));
    result("delete at a wrong version", zoo_delete(a, "/c/null", 9));
    result("delete", zoo_delete(a, "/c/null", 0));
    result("delete again", zoo_delete(a, "/c/null", -1));
    result("delete the root", zoo_delete(a, "/", -1));

    /* Sequences and ephemerals. */
    create("create sequential", a, "/c/q-", "", open_acl, ZOO_SEQUENCE);
    create("create ephemeral sequential", a, "/c/q-", "", open_acl, ZOO_SEQUENCE | ZOO_EPHEMERAL);
    create("create ephemeral", a, "/c/e", "mine", open_acl, ZOO_EPHEMERAL);
    create("create below an ephemeral", a, "/c/e/x", "", open_acl, 0);
    create("create ephemeral by the other session", b, "/c/b", "", open_acl, ZOO_EPHEMERAL);
    exists("stat of an ephemeral", a, "/c/e", NULL);
    exists("stat of the other's ephemeral", a, "/c/b", NULL);
    children("children", a, "/c", NULL);
    children("children of a missing node", a, "/nope", NULL);

    /* Events and replies in the order of the wire: a session's own writes, pipelined. */
    get("watch data", a, "/c/e", "data");
    children("watch children", a, "/c", "children");
    exists("watch for creation", a, "/c/new", "creation");
    zoo_aset(a, "/c/e", "1", 1, -1, done_stat, "first set");
    zoo_aset(a, "/c/e", "2", 1, 1, done_stat, "second set, of the version that the first one makes");
    zoo_aset(a, "/c/e", "3", 1, 1, done_stat, "third set, of a version that has passed");
    zoo_acreate(a, "/c/new", "", 0, open_acl, 0, done_string, "create");
    zoo_aget(a, "/c/e", 0, done_data, "get");
    zoo_adelete(a, "/c/new", -1, done_void, "delete");
    zoo_async(a, "/c", done_string, "sync");
    expect("pipelined", 10, 0);
    exists("watch for deletion", a, "/c/e", "exists");
    get("watch data for deletion", a, "/c/e", "get");
    children("watch children for deletion", a, "/c/e", "children of it");
    zoo_adelete(a, "/c/e", -1, done_void, "delete");
    expect("deleted", 4, 1);

    /* Transactions. */
    char path1[LINE], path2[LINE];
    struct Stat stat1;
    zoo_op_t good[5];
    zoo_create_op_init(&good[0], "/c/m", "1", 1, open_acl, 0, path1, sizeof path1);
    zoo_create_op_init(&good[1], "/c/m/n-", "2", 1, open_acl, ZOO_SEQUENCE, path2, sizeof path2);
    zoo_set_op_init(&good[2], "/c/m", "33", 2, 0, &stat1);
    zoo_check_op_init(&good[3], "/c/m", 1);
    zoo_delete_op_init(&good[4], "/c/m/n-0000000000", 0);
    multi("multi", 5, good);
    zoo_op_t bad[4];
    zoo_create_op_init(&bad[0], "/c/m/x", "", 0, open_acl, 0, path1, sizeof path1);
    zoo_set_op_init(&bad[1], "/c/m", "never", 5, -1, &stat1);
    zoo_delete_op_init(&bad[2], "/c/m", 77);
    zoo_create_op_init(&bad[3], "/c/m/y", "", 0, open_acl, 0, path2, sizeof path2);
    multi("multi that fails in the middle", 4, bad);
    get("get after a failed multi", a, "/c/m", NULL);
    children("children after a failed multi", a, "/c/m", NULL);

    /* ACLs. */
    struct ACL digest = {ZOO_PERM_ALL, {"digest", "alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E="}};
    struct ACL_vector secret = {1, &digest};
    struct ACL nonsense = {ZOO_PERM_ALL, {"unknown", "id"}};
    struct ACL_vector unknown = {1, &nonsense};
    struct ACL_vector empty = {0, NULL};
    create("create with a digest acl", a, "/ca", "hidden", &secret, 0);
    get("get without authority", a, "/ca", NULL);
    set("set without authority", a, "/ca", "", -1);
    exists("exists without authority", a, "/ca", NULL);
    children("children without authority", a, "/ca", NULL);
    create("create without authority", a, "/ca/x", "", open_acl, 0);
    get_acl("get acl without authority", a, "/ca");
    create("create with an empty acl", a, "/bad", "", &empty, 0);
    create("create with an unknown scheme", a, "/bad", "", &unknown, 0);
    create("create with auth but no identity", a, "/bad", "", &ZOO_CREATOR_ALL_ACL, 0);
    zoo_add_auth(a, "digest", "alice:secret", 12, done_void, "add auth");
    expect("add auth", 1, 0);
    get("get with authority", a, "/ca", NULL);
    get_acl("get acl with authority", a, "/ca");
    create("create with auth", a, "/ca/mine", "", &ZOO_CREATOR_ALL_ACL, 0);
    get_acl("get acl that auth became", a, "/ca/mine");
    result("set acl", zoo_set_acl(a, "/ca", 0, &ZOO_READ_ACL_UNSAFE));
    result("set acl that is no longer ours", zoo_set_acl(a, "/ca", 1, open_acl));
    get("get by a stranger", b, "/ca", NULL);
    result("delete by a stranger", zoo_delete(b, "/ca/mine", -1));

    /* A lost connection. Watches are armed again with the position that this session has seen. */
    create("create what is watched", a, "/c/w", "", open_acl, 0);
    create("create what is watched for deletion", a, "/c/d", "", open_acl, 0);
    create("create what stays as it is", a, "/c/same", "", open_acl, 0);
    get("watch data", a, "/c/w", "data");
    get("watch data that goes", a, "/c/d", "data of what goes");
    exists("watch for creation", a, "/c/later", "creation");
    exists("watch an ephemeral", a, "/c/b", "existence");
    children("watch children", a, "/c", "children");
    get("watch data that stays", a, "/c/same", "data that stays");
    int64_t session = zoo_client_id(a)->client_id;
    say("cut!");
    expect("cut", 1, 0);
    set("set while the other is away", b, "/c/w", "meanwhile", -1);
    result("delete while the other is away", zoo_delete(b, "/c/d", -1));
    create("create while the other is away", b, "/c/later", "", open_acl, 0);
    say("join");
    expect("join", 5, 1);
    printf("same session: %d\n", zoo_client_id(a)->client_id == session);
    set("set what stayed", b, "/c/same", "no more", -1);
    expect("armed again", 1, 0);
    get("authority after reconnect", a, "/ca/mine", NULL);

    /* The end of a session takes its ephemerals along. */
    exists("watch the other's ephemeral", a, "/c/b", "end");
    result("close", zookeeper_close(b));
    expect("end of a session", 2, 1);
    children("children at the end", a, "/c", NULL);
    result("close", zookeeper_close(a));
    return 0;
}
