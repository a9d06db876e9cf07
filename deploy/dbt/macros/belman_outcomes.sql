{#
  One row for each unit whose window closed from `since` until before `until`, with what came of it.

  assignments  a relation with unit, version, arm and time; a unit counts from its first one
  events       a relation with unit and time, and the amounts that are summed up as `reward`
  window       seconds after its assignment in which what comes of a unit counts
  since, until SQL of two timestamps; batches that follow one another hold each unit once
  count        'sum' adds rewards up, 'any' is 1 if there was an event, and else 0
  segment      the column of assignments that has the segment, if the study has segments
#}
{% macro belman_outcomes(assignments, events, window, since, until, count='sum', segment=none, reward='reward') %}
{%- if count not in ('sum', 'any') %}
  {{ exceptions.raise_compiler_error("count is '" ~ count ~ "': give 'sum' or 'any'") }}
{%- endif %}
{%- set names = ['unit', 'version', 'arm'] + ([segment] if segment else []) %}
{%- set closed = dbt.dateadd('second', window, 'assigned.time') %}
select
  {% for name in names %}assigned.{{ name }}{{ ' as segment' if name == segment }}, {% endfor %}
  {% if count == 'sum' -%}
  coalesce(sum(event.{{ reward }}), 0) as reward
  {%- else -%}
  max(case when event.unit is null then 0 else 1 end) as reward
  {%- endif %}
from (
  select {{ names | join(', ') }}, min(time) as time
  from {{ assignments }}
  group by {{ names | join(', ') }}
) as assigned
left join {{ events }} as event
  on event.unit = assigned.unit
  and event.time >= assigned.time
  and event.time < {{ closed }}
where {{ closed }} >= {{ since }} and {{ closed }} < {{ until }}
group by {% for name in names %}assigned.{{ name }}{{ ', ' if not loop.last }}{% endfor %}
{% endmacro %}
