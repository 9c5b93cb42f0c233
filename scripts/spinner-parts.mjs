// Replaces cli-spinners in ora: the two spinners that src/output/live/spinner.ts shows. The other 88 took 5 kB of the package.
import { dots, line } from '../node_modules/cli-spinners/spinners.json';

export default { dots, line };
