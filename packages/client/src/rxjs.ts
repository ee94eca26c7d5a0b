/**
 * `import "@zooid/client/rxjs"` loads RxJS with the program. For bundlers that are set to
 * conditions of their own, without `module`: they do not see that the client loads RxJS with the
 * first stream.
 */
import * as module from "rxjs";
import { provideRxjs } from "./streams/rxjs-module.ts";

provideRxjs(module);
