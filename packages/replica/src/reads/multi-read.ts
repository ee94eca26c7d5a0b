import {
  ErrorCode,
  newRequest,
  OpCode,
  Permission,
  PRICES,
  type Request,
  type RequestDecoder,
  type Zxid,
} from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { GroundParts } from "../parts/ground.ts";
import { nameCount } from "../path-work.ts";
import { readRefusal } from "./read-refusal.ts";
import type { WatchRequests } from "./watch-requests.ts";

interface Parts extends GroundParts {
  readonly watchRequests: WatchRequests;
}

/** Answers multiRead requests, of which each part succeeds or fails alone. */
export class MultiRead {
  readonly #parts: Parts;
  readonly #part: Request = newRequest();
  /** The nodes of the parts; 0 for none. */
  readonly #nodes: number[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** All parts are looked up and the answer is measured before the first part is answered. */
  answer(connection: Connection, request: Request, parts: RequestDecoder, zxid: Zxid): void {
    const { sinks, tree } = this.#parts;
    const { replies } = sinks;
    const { ref } = connection;
    const part = this.#part;
    if (!this.#isAnswerable(parts)) {
      replies.header(ref, request.xid, zxid, ErrorCode.MARSHALLING_ERROR);
      return;
    }
    parts.rewindParts();
    replies.multiBegin(ref, request.xid, zxid);
    for (let i = 0; parts.nextPart(part); i++) {
      const node = this.#nodes[i] as number;
      const code = readRefusal(this.#parts, connection, node, Permission.READ);
      if (code !== ErrorCode.OK) replies.partError(ref, code);
      else if (part.op === OpCode.GET_DATA) replies.partData(ref, tree.view(node));
      else replies.partChildren(ref, tree.view(node));
    }
    replies.multiEnd(ref);
  }

  /**
   * Whether a multiRead can be answered within its limits. After the part that exceeds one, the
   * rest is only decoded: an unreadable part fails the whole request.
   */
  #isAnswerable(parts: RequestDecoder): boolean {
    const { config, tree, requestWork } = this.#parts;
    const { multiReadBytesMax, multiReadChildrenMax, multiReadCountMax, multiReadNamesMax } = config;
    const part = this.#part;
    let isWithin = true;
    let bytes = 0;
    let children = 0;
    let names = 0;
    this.#nodes.length = 0;
    for (let count = 1; parts.nextPart(part); count++) {
      if (!isWithin) continue;
      names += nameCount(part.path);
      isWithin = part.hasPath && count <= multiReadCountMax && names <= multiReadNamesMax;
      if (!isWithin) continue;
      const node = tree.find(part.path.bytes, part.path.start, part.path.end);
      this.#nodes.push(node);
      if (node === 0) continue;
      if (part.op === OpCode.GET_DATA) bytes += tree.dataLength(node);
      else {
        children += tree.childCount(node);
        isWithin = children <= multiReadChildrenMax;
        if (isWithin) bytes += tree.listingBytes(node);
      }
      if (bytes > multiReadBytesMax) isWithin = false;
      requestWork.count++;
    }
    requestWork.count += children >> PRICES.listedNamesPerUsLog2;
    return isWithin;
  }
}
