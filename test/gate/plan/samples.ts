import fc from 'fast-check';
import type { PlanNode } from '../../../src/gate/plan/graph.ts';

/** Any graph of up to eight gates without a mistake, in any order. */
export const graphs: fc.Arbitrary<PlanNode[]> = fc
  .array(fc.record({ needs: fc.array(fc.nat(7), { maxLength: 4 }), advisory: fc.nat(3) }), {
    minLength: 1,
    maxLength: 8,
  })
  .map((list) =>
    list.map(({ needs, advisory }, at): PlanNode => {
      // A gate only needs those before it, and never an advisory one.
      const fit = needs.filter((need) => need < at && list[need]?.advisory !== 0);
      return {
        name: `g${at}`,
        needs: [...new Set(fit)].map((need) => `g${need}`),
        advisory: advisory === 0,
      };
    }),
  )
  .chain((nodes) => fc.shuffledSubarray(nodes, { minLength: nodes.length }));
