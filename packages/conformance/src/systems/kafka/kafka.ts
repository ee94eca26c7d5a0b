/**
 * Runs Kafka on an ensemble of three of Apache ZooKeeper and on one of zooid-server
 * (`kafka-run.ts`). No record may be lost or doubled, and both runs must have the recorded
 * transcript.
 *
 *     npm run tool -- kafka [--against apache|zooid] [--record]
 *
 * It needs java, javac and mvn. `--record` writes Apache ZooKeeper's transcript.
 */
import { compareRuns } from "../system-run.ts";
import { KAFKA } from "./kafka-run.ts";

await compareRuns(KAFKA);
process.exit();
