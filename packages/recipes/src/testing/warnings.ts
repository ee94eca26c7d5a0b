import type { Logger } from "@zooid/client";

const silent = (): void => {};

/** Warnings of a client, and the first of them. */
export class Warnings {
  readonly messages: string[] = [];
  /** Values of the fields `code` and `error`. */
  readonly codes: unknown[] = [];
  readonly first: Promise<string>;
  readonly logger: Logger;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.first = promise;
    const warn: Logger["warn"] = (message, fields) => {
      this.messages.push(message);
      this.codes.push([fields?.["code"], fields?.["error"]]);
      resolve(message);
    };
    this.logger = { debug: silent, info: silent, error: silent, warn };
  }
}
