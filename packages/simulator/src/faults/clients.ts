import type { FaultAction, FaultActions } from "./fault-world.ts";

/** Connections that deliver nothing any more while both ends believe that they are open. */
const cutClients: FaultAction = (world, random) => {
  const share = 0.3 + (random.next() / 2 ** 32) * 0.7;
  for (const { connection, name } of world.run.clients) {
    if (connection === undefined || !random.chance(share)) continue;
    world.reportTo(name, "is cut off and does not know");
    connection.isSilent = true;
  }
};

export const CLIENT_FAULTS: FaultActions<"cut-clients"> = { "cut-clients": cutClients };
