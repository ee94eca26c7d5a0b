import { createRequire } from "node:module";
import type { MeasuredClient } from "./measured-client.ts";

/**
 * As much of npm's `zookeeper`, the binding to Apache's C client, as is measured: its callbacks,
 * which cost less than its promises.
 */
interface Zookeeper {
  connect(options: object, callback: (error: unknown) => void): void;
  close(): void;
  once(event: "close", listener: () => void): void;
  a_get(
    path: string,
    watch: boolean,
    callback: (code: number, error: string, stat: object, data: Buffer) => void,
  ): void;
  a_set(path: string, data: Buffer, version: number, callback: (code: number, error: string) => void): void;
  a_create(path: string, data: Buffer, flags: number, callback: (code: number, error: string) => void): void;
}
type ZookeeperConstructor = new (options: object) => Zookeeper;

/** Its ZOO_LOG_LEVEL_ERROR: otherwise the library reports each connection on stderr. */
const LOG_ERRORS = 1;

export async function connectNpmZookeeper(server: string, folder: string): Promise<MeasuredClient> {
  const Constructor = createRequire(import.meta.url)(folder) as ZookeeperConstructor;
  const options = { connect: server, timeout: 30_000, debug_level: LOG_ERRORS, data_as_buffer: true };
  const client = new Constructor(options);
  await new Promise<void>((connected, failed) => {
    client.connect(options, (error) => (error === null ? connected() : failed(error)));
  });
  const fault = (code: number, error: string): Error | undefined => (code === 0 ? undefined : new Error(error));
  return {
    get: (path, done) =>
      client.a_get(path, false, (code, error, _stat, data) => done(fault(code, error), data?.length)),
    set: (path, data, done) => client.a_set(path, data, -1, (code, error) => done(fault(code, error))),
    create: (path, data, done) => client.a_create(path, data, 0, (code, error) => done(fault(code, error))),
    close: () =>
      new Promise((closed) => {
        client.once("close", closed);
        client.close();
      }),
  };
}
