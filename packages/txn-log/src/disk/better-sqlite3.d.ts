/** The part of better-sqlite3 that this package uses; the library brings no types of its own. */
declare module "better-sqlite3" {
  type Value = number | bigint | string | Uint8Array | null;

  export interface Statement {
    run(...parameters: (Value | readonly Value[])[]): { readonly changes: number };
    get(...parameters: Value[]): unknown;
    all(...parameters: Value[]): unknown[];
    iterate(...parameters: Value[]): IterableIterator<unknown>;
    raw(): this;
    pluck(): this;
  }

  class SqliteError extends Error {
    constructor(message: string, code: string);
    readonly code: string;
  }

  export default class Database {
    static readonly SqliteError: typeof SqliteError;
    constructor(
      file: string,
      options?: { readonly readonly?: boolean; readonly fileMustExist?: boolean; readonly timeout?: number },
    );
    readonly open: boolean;
    readonly inTransaction: boolean;
    prepare(sql: string): Statement;
    exec(sql: string): this;
    pragma(text: string, options?: { readonly simple?: boolean }): unknown;
    serialize(): Buffer;
    close(): this;
  }
}
