import { createRequire } from "node:module";
import type { MeasuredClient } from "./measured-client.ts";

/** As much of npm's `node-zookeeper-client` as is measured. */
interface NodeZookeeperClient {
  connect(): void;
  close(): void;
  once(event: "connected" | "disconnected", listener: () => void): void;
  getData(path: string, callback: (error: unknown, data: Buffer) => void): void;
  setData(path: string, data: Buffer, version: number, callback: (error: unknown) => void): void;
  create(path: string, data: Buffer, callback: (error: unknown) => void): void;
}
interface NodeZookeeperModule {
  createClient(hosts: string, options: { readonly sessionTimeout: number }): NodeZookeeperClient;
}

export async function connectNodeZookeeperClient(server: string, folder: string): Promise<MeasuredClient> {
  const { createClient } = createRequire(import.meta.url)(folder) as NodeZookeeperModule;
  const client = createClient(server, { sessionTimeout: 30_000 });
  await new Promise<void>((connected) => {
    client.once("connected", connected);
    client.connect();
  });
  return {
    get: (path, done) => client.getData(path, (error, data) => done(error, data?.length)),
    set: (path, data, done) => client.setData(path, data, -1, (error) => done(error)),
    create: (path, data, done) => client.create(path, data, (error) => done(error)),
    close: () =>
      new Promise((closed) => {
        client.once("disconnected", closed);
        client.close();
      }),
  };
}
