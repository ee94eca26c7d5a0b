import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { DiskCalls, type Span } from "./disk-calls.ts";

/**
 * Records what some work of this process does to the files below a folder, by the synchronous
 * functions of `node:fs`; shim.c does it for everything that a process of its own does. A function
 * or an argument that is not recorded throws. Each call takes one tick of a clock.
 */
export class RecordedFiles {
  readonly calls: DiskCalls;
  readonly #offsets = new Map<number, number>();
  #clock = 0n;

  /** @param root an empty folder */
  constructor(root: string) {
    this.calls = new DiskCalls(root);
  }

  /** For what was promised, and when. */
  get now(): bigint {
    return this.#clock;
  }

  record<T>(work: () => T): T {
    const before = { ...fs };
    const recorded = {
      openSync: (path: string, flags = "r", mode?: number) => {
        const isThere = before.existsSync(path);
        const descriptor = before.openSync(path, flags, mode);
        this.calls.opened(path, descriptor, this.#tick());
        this.#offsets.set(descriptor, 0);
        if (isThere && flags.startsWith("w")) this.calls.resized(descriptor, 0, this.#tick());
        return descriptor;
      },
      writeSync: (descriptor: number, content: string, ...rest: readonly unknown[]) => {
        if (rest.length > 0) throw new Error("a write at an offset is not recorded");
        const offset = this.#offsets.get(descriptor) ?? 0;
        const written = before.writeSync(descriptor, content);
        this.#offsets.set(descriptor, offset + written);
        this.calls.wrote(descriptor, offset, Buffer.from(content).subarray(0, written), this.#tick());
        return written;
      },
      fsyncSync: (descriptor: number) => {
        before.fsyncSync(descriptor);
        this.calls.synced(descriptor, this.#tick());
      },
      closeSync: (descriptor: number) => {
        this.calls.closed(descriptor);
        before.closeSync(descriptor);
      },
      renameSync: (from: string, to: string) => {
        before.renameSync(from, to);
        this.calls.renamed(from, to, this.#tick());
      },
      rmSync: (path: string, options?: { readonly force?: boolean }) => {
        if (options?.force === true && !before.existsSync(path)) return;
        before.unlinkSync(path);
        this.calls.removed(path, this.#tick());
      },
      ...refused("writeFileSync", "appendFileSync", "unlinkSync", "truncateSync", "ftruncateSync", "mkdirSync"),
      ...refused("copyFileSync", "linkSync", "symlinkSync", "fdatasyncSync", "writevSync", "cpSync"),
    };
    Object.assign(fs, recorded);
    syncBuiltinESMExports();
    try {
      return work();
    } finally {
      const names = Object.keys(recorded);
      Object.assign(fs, Object.fromEntries(Object.entries(before).filter(([name]) => names.includes(name))));
      syncBuiltinESMExports();
    }
  }

  #tick(): Span {
    this.#clock++;
    return { begun: this.#clock, ended: this.#clock };
  }
}

function refused(...names: readonly string[]): Readonly<Record<string, () => never>> {
  const refuse = (name: string) => (): never => {
    throw new Error(`${name} is not recorded`);
  };
  return Object.fromEntries(names.map((name) => [name, refuse(name)]));
}
