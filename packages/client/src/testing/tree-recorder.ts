import type { Client } from "../client.ts";
import type { TreeChange, TreeNode, TreeOptions } from "../streams/observe-tree.ts";

/**
 * Records a stream and the tree that it describes. Every change must be consistent with the ones
 * before.
 */
export class TreeRecorder implements Disposable {
  readonly lines: string[] = [];
  readonly nodes: Map<string, TreeNode> = new Map();
  error: unknown;
  isComplete = false;
  readonly faults: string[] = [];
  readonly #close: () => void;
  #wake: () => void = () => {};

  constructor(client: Client, path: string, options: TreeOptions = {}) {
    const subscription = client.watchTree$(path, options).subscribe({
      next: (change) => this.#note(change),
      error: (error: unknown) => {
        this.error = error;
        this.#wake();
      },
      complete: () => {
        this.isComplete = true;
        this.#wake();
      },
    });
    this.#close = () => subscription.unsubscribe();
  }

  async until(reached: () => boolean): Promise<void> {
    while (!reached()) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  ready(): Promise<void> {
    return this.until(() => this.lines.includes("ready"));
  }

  /** The nodes, by path. */
  get held(): Record<string, string> {
    const all = [...this.nodes].map(([path, { data }]) => [path, Buffer.from(data ?? []).toString()] as const);
    return Object.fromEntries(all.sort());
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  #note(change: TreeChange): void {
    this.lines.push(plain(change));
    if (change.kind === "deleted") this.#expect(change.before, this.nodes.get(change.before.path), change);
    if (change.kind === "changed") this.#expect(change.before, this.nodes.get(change.node.path), change);
    if (change.kind === "created") this.#expect(undefined, this.nodes.get(change.node.path), change);
    if (change.kind === "deleted") this.nodes.delete(change.before.path);
    else if (change.kind !== "ready") this.nodes.set(change.node.path, change.node);
    this.#wake();
  }

  #expect(before: TreeNode | undefined, known: TreeNode | undefined, change: TreeChange): void {
    if (before !== known) this.faults.push(plain(change));
  }
}

/** A change on one line: its kind, path and data. */
export function plain(change: TreeChange): string {
  if (change.kind === "ready") return "ready";
  const node = change.kind === "deleted" ? change.before : change.node;
  return `${change.kind} ${node.path} ${Buffer.from(node.data ?? []).toString()}`;
}
