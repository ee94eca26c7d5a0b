import type { LogFields, Logger } from "@zooid/client";
import { filter, firstValueFrom, map, ReplaySubject } from "rxjs";

const silent = (): void => {};

/** Warnings of a client, of its recipes and its own. */
export class Warnings {
  readonly messages: string[] = [];
  /** Values of the fields `code` and `error`. */
  readonly codes: unknown[] = [];
  readonly first: Promise<string>;
  readonly logger: Logger;
  readonly #all$ = new ReplaySubject<{ readonly message: string; readonly fields: LogFields | undefined }>();

  constructor() {
    this.first = firstValueFrom(this.#all$.pipe(map(({ message }) => message)));
    const warn: Logger["warn"] = (message, fields) => {
      this.messages.push(message);
      this.codes.push([fields?.["code"], fields?.["error"]]);
      this.#all$.next({ message, fields });
    };
    this.logger = { debug: silent, info: silent, error: silent, warn };
  }

  /** The first one with this code. */
  async coded(code: string): Promise<string> {
    const { message } = await firstValueFrom(this.#all$.pipe(filter(({ fields }) => fields?.["code"] === code)));
    return message;
  }
}
