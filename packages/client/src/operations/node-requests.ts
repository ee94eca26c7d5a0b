import type { SessionId, Stat } from "@zooid/model";
import { checkedAcl } from "../auth/acl-checks.ts";
import type { CallOptions } from "../calls/call.ts";
import { interceptedCall } from "../calls/interceptor.ts";
import {
  type Children,
  CREATE,
  CREATE_CONTAINER,
  CREATE_TTL,
  type Created,
  DELETE,
  DELETE_IF_PRESENT,
  EXISTS,
  GET_CHILDREN,
  GET_DATA_OR_NULL,
  type NodeData,
  type Operation,
  SET_DATA,
} from "../calls/operation.ts";
import type { BackgroundDeletes } from "./background-deletes.ts";
import { createBody, isSequential, type Payload, payloadBytes } from "./create-mode.ts";
import type { NodeOperations, SingleCreateOptions, SingleDeleteOptions } from "./node-operations.ts";
import type { DeleteOptions, ReadOptions, VersionOptions } from "./node-options.ts";
import { checkedPath, checkedSequentialPath, underRoot, withoutRoot } from "./paths.ts";
import type { ViewPlace } from "./view-place.ts";

/** Requests of one view of a client, with the view's root, defaults and limits. */
export class NodeRequests implements NodeOperations {
  readonly root: string;
  readonly #parts: ViewPlace & { readonly deletes: BackgroundDeletes };

  constructor(parts: ViewPlace & { readonly deletes: BackgroundDeletes }) {
    this.root = parts.root;
    this.#parts = parts;
  }

  get sessionId(): SessionId {
    return this.#parts.driver.session.id;
  }

  async create(path: string, data: Payload | undefined, options: SingleCreateOptions): Promise<Created> {
    const checked = isSequential(options) ? checkedSequentialPath(path, "create") : checkedPath(path, "create");
    const acl = checkedAcl(options.acl ?? this.#parts.view.aclOf(underRoot(this.root, checked)), "create", path);
    const { code, body } = createBody(data === undefined ? this.#parts.view.defaultData : data, { ...options, acl });
    const operation = [CREATE, CREATE_CONTAINER, CREATE_TTL].find((create) => create.code === code) ?? CREATE;
    const created = await this.ask(operation, checked, body, options);
    return this.root === "/" ? created : { path: withoutRoot(this.root, created.path), stat: created.stat };
  }

  async set(path: string, data: Payload, options: VersionOptions): Promise<Stat> {
    return this.askAt(SET_DATA, path, { data: payloadBytes(data, "set"), version: options.version ?? -1 }, options);
  }

  delete(path: string, options: SingleDeleteOptions): Promise<void> {
    const { version = -1, missingOk = false } = options;
    return this.askAt(missingOk ? DELETE_IF_PRESENT : DELETE, path, version, options);
  }

  getOrNull(path: string, options?: ReadOptions): Promise<NodeData | null> {
    return this.read(GET_DATA_OR_NULL, path, options);
  }

  exists(path: string, options?: ReadOptions): Promise<Stat | null> {
    return this.read(EXISTS, path, options);
  }

  children(path: string, options?: ReadOptions): Promise<Children> {
    return this.read(GET_CHILDREN, path, options);
  }

  async deleteGuaranteed(path: string, options: DeleteOptions): Promise<void> {
    const { version = -1, missingOk = false, guaranteed } = options;
    const isOfSession = guaranteed === "session";
    const full = underRoot(this.root, checkedPath(path, "delete"));
    const call = interceptedCall({ operation: DELETE, path: full, shownPath: path, body: version });
    return this.#parts.view.intercepted(call, () =>
      this.#parts.deletes.delete({ path: full, shownPath: path, version, missingOk, isOfSession, options }),
    );
  }

  /** A read, behind a sync of the same path where the options ask for one. */
  read<T>(operation: Operation<undefined, T>, path: string, options: ReadOptions | undefined): Promise<T> {
    if (options?.sync !== true) return this.askAt(operation, path, undefined, options);
    try {
      const full = underRoot(this.root, checkedPath(path, operation.name));
      const place = { path: full, shownPath: path, body: undefined, syncPath: full };
      return this.#parts.view.ask(this.#parts.driver, {
        operation,
        ...place,
        options: this.#parts.view.limitsOf(options),
      });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  askAt<B, T>(operation: Operation<B, T>, path: string, body: B, options: CallOptions | undefined): Promise<T> {
    try {
      return this.ask(operation, checkedPath(path, operation.name), body, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** @param path checked before */
  ask<B, T>(operation: Operation<B, T>, path: string, body: B, options: CallOptions | undefined): Promise<T> {
    const limits = this.#parts.view.limitsOf(options);
    const fields = { operation, path: underRoot(this.root, path), shownPath: path, body, options: limits };
    return this.#parts.view.ask(this.#parts.driver, fields);
  }
}
