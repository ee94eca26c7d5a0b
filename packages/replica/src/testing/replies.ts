import {
  ChildDetail,
  type ChildPage,
  type ConnectionRef,
  errorName,
  type NodeView,
  type ReplySink,
  SESSION_NONE,
  type SessionId,
  sliceText,
} from "@zooid/model";

/**
 * For tests: what each connection received, one line for each packet, and the last session created
 * or renewed.
 */
export class HeardReplies {
  session: SessionId = SESSION_NONE;
  password: Uint8Array = new Uint8Array(16);
  readonly #heard = new Map<ConnectionRef, string[]>();

  /** Begins to listen for a connection. */
  open(ref: ConnectionRef): void {
    this.#heard.set(ref, []);
  }

  /** Takes what a client received since the last call. */
  take(ref: ConnectionRef): string[] {
    return this.#heard.get(ref)?.splice(0) ?? [];
  }

  sink(): ReplySink {
    let parts: string[] = [];
    let multiXid = 0;
    const answered = (ref: ConnectionRef, xid: number, text: string): void => this.#hear(ref, `${xid} ${text}`);
    return {
      connected: (to, { timeoutMs, session, password }) => {
        this.session = session;
        this.password = Uint8Array.from(password.bytes.subarray(password.start, password.end));
        this.#hear(to, timeoutMs === 0 ? "expired" : `connected ${timeoutMs}`);
      },
      header: (to, xid, _, code) => answered(to, xid, code === 0 ? "ok" : errorName(code)),
      data: (to, xid, _, node) => answered(to, xid, `data ${dataOf(node)}`),
      stat: (to, xid) => answered(to, xid, "stat"),
      children: (to, xid, _, node) => answered(to, xid, `children ${childrenOf(node)}`),
      childrenAndStat: (to, xid, _, node) => answered(to, xid, `children ${childrenOf(node)}`),
      aclAndStat: (to, xid, _, acl) =>
        answered(to, xid, `acl ${acl.map(({ perms, scheme, id }) => `${scheme}:${id}:${perms}`).join(",")}`),
      path: (to, xid, _, path) => answered(to, xid, `path ${sliceText(path)}`),
      pathAndStat: (to, xid, _, path) => answered(to, xid, `path ${sliceText(path)}`),
      strings: (to, xid, _, each) => {
        const values: string[] = [];
        const isWhole = each((value) => values.push(sliceText(value)));
        if (isWhole) answered(to, xid, `strings ${values.join(",")}`);
        return isWhole;
      },
      childPage: (to, xid, _, page) => answered(to, xid, `page ${pageOf(page)}`),
      integer: (to, xid, _, value) => answered(to, xid, `integer ${value}`),
      identities: (to, xid, _, who) =>
        answered(to, xid, `identities ${who.map(({ scheme, id }) => `${scheme}:${id}`).join(",")}`),
      token: (to, xid, _, code, token) =>
        answered(
          to,
          xid,
          `${code === 0 ? "token" : errorName(code)} ${token === undefined ? "null" : Buffer.from(token)}`,
        ),
      multiBegin: (_, xid) => {
        parts = [];
        multiXid = xid;
      },
      partError: (_, code) => parts.push(code === 0 ? "ok" : errorName(code)),
      partEmpty: () => parts.push("done"),
      partPath: (_, path) => parts.push(`path ${sliceText(path)}`),
      partPathAndStat: (_, path) => parts.push(`path ${sliceText(path)}`),
      partStat: () => parts.push("stat"),
      partData: (_, node) => parts.push(`data ${dataOf(node)}`),
      partChildren: (_, node) => parts.push(`children ${childrenOf(node)}`),
      multiEnd: (to) => answered(to, multiXid, `[${parts.join(", ")}]`),
      event: (to, _, type, path) => this.#hear(to, `event ${type} ${sliceText(path)}`),
      close: (to) => this.#hear(to, "close"),
    };
  }
  #hear(ref: ConnectionRef, line: string): void {
    this.#heard.get(ref)?.push(line);
  }
}

/** `a,b=data,c! …` for more, `.` for the end; `!` for a child that may not be read. */
function pageOf(page: ChildPage): string {
  const children = Array.from({ length: page.count }, (_, i) => {
    const child = page.child(i);
    const name = sliceText(child.name);
    if (page.detail === ChildDetail.NAME) return name;
    if (!page.isReadable(child)) return `${name}!`;
    return page.detail === ChildDetail.DATA
      ? `${name}=${dataOf(child)}`
      : `${name} ${child.data.end - child.data.start}`;
  });
  return `${children.join(",")} ${page.isLast ? "." : "…"} ${page.parent().childCount}`;
}

function dataOf(node: NodeView): string {
  return node.hasData ? sliceText(node.data) : "null";
}

function childrenOf(node: NodeView): string {
  const names: string[] = [];
  for (let more = node.firstChild(); more; more = node.nextChild()) names.push(sliceText(node.childName));
  return names.sort().join(",");
}
