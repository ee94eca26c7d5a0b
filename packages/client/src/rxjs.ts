/**
 * `import "@zooid/client/rxjs"` loads RxJS with the program. For programs that are bundled into one
 * file: bundlers do not see that the client loads RxJS with the first stream.
 */
import * as module from "rxjs";
import { provideRxjs } from "./streams/rxjs-module.ts";

provideRxjs(module);
