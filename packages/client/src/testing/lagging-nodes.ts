import { ErrorCode, OpCode } from "@zooid/model";
import { JuteReader, readText, writeMultiHeader } from "@zooid/wire";
import { answer, childrenAnswer, createAnswer, dataAnswer, type SeenRequest, statAnswer } from "./scripted-server.ts";

interface LaggingNode {
  readonly data: string;
  readonly version: number;
}

/**
 * The nodes of a follower that lags behind its leader: reads see what the follower has applied.
 * It catches up with a `sync`, and with each write, whose answer follows the write in its log.
 */
export class LaggingNodes {
  /** As the leader has them. */
  readonly nodes: Map<string, LaggingNode> = new Map();
  #applied: ReadonlyMap<string, LaggingNode> = new Map();
  /** Names of the operations that were asked for, in their order. */
  readonly asked: string[] = [];

  /** Creates nodes at the leader, or replaces their data. */
  put(...paths: readonly string[]): void {
    for (const path of paths) this.nodes.set(path, { data: "", version: 0 });
  }

  catchUp(): void {
    this.#applied = new Map(this.nodes);
  }

  /** For `ScriptedLine.serve`. */
  readonly handle: (request: SeenRequest) => Buffer = (request) => {
    const { op, path } = request;
    switch (op) {
      case OpCode.GET_CHILDREN2:
        this.asked.push(`children ${path}`);
        return this.#applied.has(path) ? childrenAnswer(request, namesBelow(this.#applied, path)) : missing(request);
      case OpCode.EXISTS:
        this.asked.push(`exists ${path}`);
        return this.#applied.has(path) ? statAnswer(request, this.#applied.get(path)?.version) : missing(request);
      case OpCode.GET_DATA: {
        this.asked.push(`get ${path}`);
        const node = this.#applied.get(path);
        return node === undefined ? missing(request) : dataAnswer(request, node.data, node.version);
      }
      case OpCode.SYNC:
        this.asked.push(`sync ${path}`);
        this.catchUp();
        return answer(request, {}, (writer) => writer.text(path));
      default: {
        const written = this.write(request);
        this.catchUp();
        return written;
      }
    }
  };

  /** Carries a write out at the leader alone. @returns its answer */
  write(request: SeenRequest): Buffer {
    const { op, path, body } = request;
    const reader = new JuteReader();
    reader.reset(body, 0, body.length);
    switch (op) {
      case OpCode.CREATE2: {
        this.asked.push(`create ${path}`);
        const made = path.endsWith("-") ? `${path}0000000000` : path;
        if (this.nodes.has(made)) return answer(request, { code: ErrorCode.NODE_EXISTS });
        readText(reader);
        this.nodes.set(made, { data: readText(reader), version: 0 });
        return createAnswer(request, made);
      }
      case OpCode.SET_DATA: {
        this.asked.push(`set ${path}`);
        readText(reader);
        const data = readText(reader);
        const wanted = reader.int();
        const node = this.nodes.get(path);
        if (node === undefined) return missing(request);
        if (wanted !== -1 && wanted !== node.version) return answer(request, { code: ErrorCode.BAD_VERSION });
        this.nodes.set(path, { data, version: node.version + 1 });
        return statAnswer(request, node.version + 1);
      }
      case OpCode.DELETE:
        this.asked.push(`delete ${path}`);
        return answer(request, { code: this.#delete(path) });
      case OpCode.MULTI:
        return this.#deleteAll(request, reader);
      default:
        return answer(request);
    }
  }

  #delete(path: string): number {
    if (!this.nodes.has(path)) return ErrorCode.NO_NODE;
    if (namesBelow(this.nodes, path).length > 0) return ErrorCode.NOT_EMPTY;
    this.nodes.delete(path);
    return 0;
  }

  /** All deletes of one transaction, or none. */
  #deleteAll(request: SeenRequest, reader: JuteReader): Buffer {
    const paths: string[] = [];
    for (let op = reader.int(); op === OpCode.DELETE; op = reader.int()) {
      reader.bool();
      reader.int();
      paths.push(readText(reader));
      reader.int();
    }
    this.asked.push(`transaction ${paths.join(" ")}`);
    const before = [...this.nodes];
    const codes = paths.map((path) => this.#delete(path));
    const code = codes.find((each) => each !== 0) ?? 0;
    if (code !== 0) {
      this.nodes.clear();
      for (const [path, node] of before) this.nodes.set(path, node);
    }
    return answer(request, { code }, (writer) => {
      for (const each of codes) {
        writeMultiHeader(writer, code === 0 ? OpCode.DELETE : -1, false);
        if (code !== 0) writer.int(each);
      }
      writeMultiHeader(writer, -1, true);
    });
  }
}

function missing(request: SeenRequest): Buffer {
  return answer(request, { code: ErrorCode.NO_NODE });
}

function namesBelow(nodes: ReadonlyMap<string, LaggingNode>, path: string): readonly string[] {
  const prefix = path === "/" ? "/" : `${path}/`;
  return [...nodes.keys()]
    .filter((each) => each.startsWith(prefix) && each !== "/" && !each.slice(prefix.length).includes("/"))
    .map((each) => each.slice(prefix.length));
}
