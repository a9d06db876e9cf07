{#
  The sums that `study.observe` takes: for each version and arm how many units, the sum of their
  rewards, and that of the squares.

  outcomes  a relation, or a query in brackets, with a row for each unit: version, arm and reward
  segment   its column of segments, if the study has segments
#}
{% macro belman_sums(outcomes, segment=none, reward='reward') %}
{%- set names = ['version', 'arm'] + ([segment] if segment else []) %}
{%- set number = 'cast(' ~ reward ~ ' as ' ~ dbt.type_float() ~ ')' %}
select
  {% for name in names %}{{ name }}{{ ' as segment' if name == segment }}, {% endfor %}
  count(*) as n,
  sum({{ number }}) as sum,
  sum({{ number }} * {{ number }}) as squares
from {{ outcomes }} as outcomes
where {{ reward }} is not null
group by {{ names | join(', ') }}
{% endmacro %}
