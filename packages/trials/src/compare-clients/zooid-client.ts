import { connect } from "@zooid/client";
import type { MeasuredClient } from "./measured-client.ts";

export async function connectZooid(server: string): Promise<MeasuredClient> {
  const client = await connect(server);
  return {
    get(path, done) {
      client.get(path).then(({ data }) => done(undefined, data?.length), done);
    },
    getWithin(path, timeoutMs, done) {
      client.get(path, { timeoutMs }).then(({ data }) => done(undefined, data?.length), done);
    },
    set(path, data, done) {
      client.set(path, data).then(() => done(undefined), done);
    },
    create(path, data, done) {
      client.create(path, data).then(() => done(undefined), done);
    },
    close: () => client.close(),
  };
}
