/**
 * Runs SolrCloud on an ensemble of three of Apache ZooKeeper and on one of zooid-server
 * (`solr-run.ts`). No document may be lost, and both runs must have the recorded transcript.
 *
 *     npm run tool -- solr [--against apache|zooid] [--record]
 *
 * It needs java, javac and mvn. `--record` writes Apache ZooKeeper's transcript.
 */
import { compareRuns } from "../system-run.ts";
import { SOLR } from "./solr-run.ts";

await compareRuns(SOLR);
process.exit();
