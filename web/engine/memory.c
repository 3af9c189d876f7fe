/* Memory is taken from the end of what the module has, and given back down to a mark: a stack
 * without holes. */
#include "engine.h"

enum { PAGE = 65536, ALIGNMENT = 16 };

extern byte __heap_base;
static unsigned end; /* the first byte that nobody has taken */

static unsigned aligned(unsigned place) {
  return (place + ALIGNMENT - 1) & ~(unsigned)(ALIGNMENT - 1);
}

/* `bytes` at a multiple of 16; 0 if the browser gives no more memory. Views of the memory may have
 * to be made anew. */
void *EXPORT(allocate)(unsigned bytes) {
  if (!end) end = aligned((unsigned)&__heap_base);
  unsigned start = end, next = aligned(start + bytes);
  if (next < start) return 0;
  unsigned have = __builtin_wasm_memory_size(0), need = (next + PAGE - 1) / PAGE;
  if (need > have && __builtin_wasm_memory_grow(0, need - have) == (unsigned)-1) return 0;
  end = next;
  return (void *)start;
}

/* Where the next allocation begins. */
unsigned EXPORT(mark)(void) { return end ? end : aligned((unsigned)&__heap_base); }

/* Give back all that was taken since `mark` returned `place`. */
void EXPORT(release)(unsigned place) { end = place; }
