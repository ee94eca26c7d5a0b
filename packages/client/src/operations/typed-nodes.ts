import { ArgumentError, checkArgument, checkPath, found, nearestName, rules, type Stat } from "@zooid/model";
import type { Observable } from "rxjs";
import type { Created, NodeData } from "../calls/operation.ts";
import { isZkError, zkError } from "../errors.ts";
import type { ObservedNode } from "../streams/observed-node.ts";
import type { Codec } from "./codec.ts";
import type { Payload } from "./create-mode.ts";
import { decoded } from "./decode-error.ts";
import type {
  CreateOptions,
  DeleteOptions,
  PutOptions,
  ReadOptions,
  SetOptions,
  UpdateOptions,
} from "./node-options.ts";
import { checkOptions, UPDATE, UPDATE_CREATE } from "./option-shapes.ts";

type NamesIn<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** Values for the names in braces: path components without slashes. */
export type PathParameters<P extends string> = { readonly [Name in NamesIn<P>]: string };

/** The arguments of a method: the parameters may be left out where the template has none. */
export type PathArguments<P extends string, O> = [NamesIn<P>] extends [never]
  ? readonly [parameters?: PathParameters<P>, options?: O]
  : readonly [parameters: PathParameters<P>, options?: O];

/** A node's value and Stat, from one read. */
export interface TypedNode<T> {
  readonly value: T;
  readonly stat: Stat;
}

/** The operations of a client that typed nodes are made of. */
export interface TypedNodeStore {
  create(path: string, data: Payload, options?: CreateOptions): Promise<Created>;
  get(path: string, options?: ReadOptions): Promise<NodeData>;
  getOrNull(path: string, options?: ReadOptions): Promise<NodeData | null>;
  set(path: string, data: Payload, options?: SetOptions): Promise<Stat>;
  put(path: string, data: Payload, options?: PutOptions): Promise<Stat>;
  delete(path: string, options?: DeleteOptions): Promise<void>;
  exists(path: string, options?: ReadOptions): Promise<Stat | null>;
  watchData$<T>(path: string, options: { readonly codec: Codec<T> }): Observable<ObservedNode<T>>;
}

const BRACES = /\{([^{}]*)\}/g;

/**
 * Nodes of one kind, addressed by the parameters of their path.
 *
 * Data that the codec refuses reject the call with DecodeError; a stream handles them as
 * `watchData$` does.
 *
 * @typeParam P the path template with names in braces
 * @typeParam T the values
 */
export class TypedNodes<P extends string, T> {
  readonly template: P;
  readonly #client: TypedNodeStore;
  readonly #codec: Codec<T>;

  /** @internal `client.typed()` makes one */
  constructor(client: TypedNodeStore, template: P, codec: Codec<T>) {
    checkTemplate(template);
    this.#client = client;
    this.template = template;
    this.#codec = codec;
  }

  /** @throws INVALID_PATH for a value that is no path component */
  path(...[parameters]: PathArguments<P, never>): string {
    return this.#path(parameters);
  }

  #path(parameters: PathParameters<P> | undefined): string {
    if (parameters !== undefined) checkArgument(`typed ${this.template}`, "the parameters", parameters, rules.record);
    const values: Readonly<Record<string, unknown>> = parameters ?? {};
    const path = this.template.replace(BRACES, (_, name: string) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (typeof value === "string" && value !== "" && !value.includes("/")) return value;
      throw this.#invalid(`${found(value)} cannot stand for {${name}}${this.#hint(values)}`);
    });
    const hint = this.#hint(values);
    if (hint !== "") throw this.#invalid(`it has no other parameters${hint}`);
    return path;
  }

  #invalid(problem: string): Error {
    const message = `typed ${this.template}: ${problem} (INVALID_PATH)`;
    return zkError({ code: "INVALID_PATH", op: "typed", path: this.template, outcome: "not-sent", message });
  }

  /** About a parameter that the template does not have; empty for none. */
  #hint(values: Readonly<Record<string, unknown>>): string {
    const known = [...this.template.matchAll(BRACES)].map(([, name = ""]) => name);
    const other = Object.keys(values).find((name) => !known.includes(name));
    if (other === undefined) return "";
    const nearest = nearestName(other, known);
    return `; there is no parameter ${JSON.stringify(other)}${nearest === undefined ? "" : `, did you mean ${nearest}?`}`;
  }

  /** @throws as `client.create` */
  async create(parameters: PathParameters<P>, value: T, options?: CreateOptions): Promise<Created> {
    return this.#client.create(this.#path(parameters), this.#codec.encode(value), options);
  }

  /** @throws as `client.get` */
  async get(...[parameters, options]: PathArguments<P, ReadOptions>): Promise<TypedNode<T>> {
    const path = this.#path(parameters);
    const { data, stat } = await this.#client.get(path, options);
    return { value: decoded(this.#codec, { path, data, stat }), stat };
  }

  /** Null if the node does not exist. */
  getOrNull(...[parameters, options]: PathArguments<P, ReadOptions>): Promise<TypedNode<T> | null> {
    return this.#read(parameters, options);
  }

  async #read(parameters: PathParameters<P> | undefined, options?: ReadOptions): Promise<TypedNode<T> | null> {
    const path = this.#path(parameters);
    const node = await this.#client.getOrNull(path, options);
    return node === null ? null : { value: decoded(this.#codec, { path, ...node }), stat: node.stat };
  }

  /** @throws as `client.set` */
  async set(parameters: PathParameters<P>, value: T, options?: SetOptions): Promise<Stat> {
    return this.#client.set(this.#path(parameters), this.#codec.encode(value), options);
  }

  /** Writes a node, or creates it if it does not exist. */
  async put(parameters: PathParameters<P>, value: T, options?: PutOptions): Promise<Stat> {
    return this.#client.put(this.#path(parameters), this.#codec.encode(value), options);
  }

  /**
   * Computes a new value from the current one, repeated until no other client has written in
   * between.
   *
   * @param change gets the current value, undefined for a missing node; may be called several times
   * @throws NO_NODE for a missing parent; CONNECTION_LOSS with an unknown `outcome`: the value may
   *   have been written or not
   */
  async update(
    parameters: PathParameters<P>,
    change: (value: T | undefined) => T,
    options: UpdateOptions = {},
  ): Promise<TypedNode<T>> {
    checkArgument(`update ${this.template}`, "the change", change, rules.callable);
    checkOptions("update", this.template, options, UPDATE);
    checkOptions("update", this.template, options.create, UPDATE_CREATE);
    const { create, ...limits } = options;
    for (;;) {
      const node = await this.#read(parameters, limits);
      const value = change(node?.value);
      try {
        if (node === null)
          return { value, stat: (await this.create(parameters, value, { ...limits, ...create })).stat };
        return { value, stat: await this.set(parameters, value, { ...limits, version: node.stat.version }) };
      } catch (error) {
        if (!isOvertaken(error, node === null)) throw error;
      }
    }
  }

  /** @throws as `client.delete` */
  async delete(...[parameters, options]: PathArguments<P, DeleteOptions>): Promise<void> {
    return this.#client.delete(this.#path(parameters), options);
  }

  async exists(...[parameters, options]: PathArguments<P, ReadOptions>): Promise<Stat | null> {
    return this.#client.exists(this.#path(parameters), options);
  }

  /** As `client.watchData$`. */
  watch$(...[parameters]: PathArguments<P, never>): Observable<ObservedNode<T>> {
    return this.#client.watchData$(this.#path(parameters), { codec: this.#codec });
  }
}

/** @throws ArgumentError */
function checkTemplate(template: unknown): void {
  checkArgument("typed", "the template", template, rules.text);
  try {
    // With a sample in place of each parameter.
    checkPath(String(template).replace(BRACES, "x"));
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ArgumentError(`typed ${template}`, [problem], { cause: error });
  }
}

/** Whether another client was faster: it created the node, or wrote or deleted it. */
function isOvertaken(error: unknown, wasAbsent: boolean): boolean {
  if (wasAbsent) return isZkError(error, "NODE_EXISTS");
  return isZkError(error, "BAD_VERSION") || isZkError(error, "NO_NODE");
}
